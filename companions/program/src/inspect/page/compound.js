// Editors made of fields: objects, lists, maps and alternatives. They are built when they are first shown, so a schema that
// refers to itself is expanded only as far as it is shown.

const compounds = (() => {
  const { el, fill, option, button } = dom;

  const of = (read, frame) => ({ object, array, choice })[read.kind](read, frame);

  const object = (read, frame) => {
    const { schema } = read;
    const required = schema.get('required') ?? [];
    const properties = schema.get('properties') ?? new Map();
    const fields = new Map([...properties].map(([name, part]) => [name, editors.field({
      ...frame, name, schema: part, required: required.includes(name), secret: frame.secrets?.includes(name) ?? false,
    })]));
    const additional = schema.get('additionalProperties');
    const open = additional instanceof Map || additional === true || (additional === undefined && properties.size === 0);
    const more = open ? rows(additional instanceof Map ? additional : new Map(), schema, frame) : undefined;
    // What the schema does not know is kept, so that the tool can say what it thinks of it.
    let extra = new Map();
    const note = el('p', { class: 'about' });
    const get = () => {
      const out = new Map();
      for (const [name, field] of fields) {
        const value = field.get();
        if (value !== undefined) out.set(name, value);
      }
      for (const [name, value] of [...(more?.get() ?? []), ...extra]) if (!fields.has(name)) out.set(name, value);
      return out;
    };
    const set = (value) => {
      if (!(value instanceof Map)) return false;
      for (const [name, field] of fields) field.set(value.get(name));
      const rest = new Map([...value].filter(([name]) => !fields.has(name)));
      if (more) more.set(rest);
      else extra = rest;
      note.textContent = extra.size > 0 && !more ? `also given: ${[...extra.keys()].map(dom.visible).join(', ')}` : '';
      return true;
    };
    const find = ([name, ...rest]) => fields.get(name)?.find(rest) ?? more?.find([name, ...rest]);
    const unmark = () => {
      for (const field of fields.values()) field.clear();
      more?.unmark();
    };
    const node = el('div', { class: 'object' }, ...[...fields.values()].map((field) => field.node), more?.node, note);
    return { node, get, set, find, unmark };
  };

  // Members under names of one's own.
  const rows = (schema, whole, frame) => {
    let list = [];
    const box = el('div', { class: 'rows' });
    const add = (name, value) => {
      const field = editors.field({ ...frame, name: 'value', schema, required: true });
      const key = el('input', { type: 'text', 'aria-label': 'name', autocomplete: 'off', spellcheck: 'false', value: name, oninput: () => frame.changed() });
      const row = { key, field };
      row.node = el('div', { class: 'row' }, key, field.node, button('remove', () => {
        list = list.filter((one) => one !== row);
        row.node.remove();
        more.focus();
        frame.changed();
      }, { class: 'fill' }));
      if (value !== undefined) field.set(value);
      list.push(row);
      box.append(row.node);
      return row;
    };
    const more = button('add a member', () => {
      add('').key.focus();
      frame.changed();
    }, { class: 'fill' });
    return {
      node: el('div', {}, box, more),
      get: () => list.map(({ key, field }) => [key.value, field.get()]).filter(([, value]) => value !== undefined),
      set: (members) => {
        list = [];
        fill(box);
        for (const [name, value] of members) add(name, value);
      },
      find: ([name, ...rest]) => list.find(({ key }) => key.value === name)?.field.find(rest),
      unmark: () => list.forEach(({ field }) => field.clear()),
    };
  };

  const array = (read, frame) => {
    const prefix = read.schema.get('prefixItems') ?? [];
    const items = read.schema.get('items');
    const most = read.schema.has('maxItems') ? Number(read.schema.get('maxItems').text) : Infinity;
    const open = items !== false && most > prefix.length;
    let list = [];
    const box = el('div', { class: 'items' });
    const renumber = () => list.forEach(({ number }, index) => (number.textContent = String(index)));
    const add = (value) => {
      const index = list.length;
      const field = editors.field({ ...frame, name: `item ${index}`, schema: prefix[index] ?? items ?? new Map(), required: true });
      const number = el('span', { class: 'number' });
      const row = { field, number };
      const remove = index >= prefix.length && button('remove', () => {
        list = list.filter((one) => one !== row);
        row.node.remove();
        if (more) more.focus();
        renumber();
        frame.changed();
      }, { class: 'fill', 'aria-label': `remove item ${index}` });
      row.node = el('div', { class: 'row' }, number, field.node, remove);
      if (value !== undefined) field.set(value);
      list.push(row);
      box.append(row.node);
      renumber();
      return row;
    };
    const more = open && button('add an item', () => {
      add().node.querySelector('input, textarea, select')?.focus();
      frame.changed();
    }, { class: 'fill' });
    prefix.forEach(() => add());
    return {
      node: el('div', { class: 'array' }, box, more),
      // A hole in a list has no name in JSON: `null` is what comes nearest, and the tool judges it.
      get: () => list.map(({ field }) => field.get() ?? null),
      set: (value) => {
        if (!Array.isArray(value) || value.length < prefix.length) return false;
        list = [];
        fill(box);
        value.forEach((item) => add(item));
        return true;
      },
      find: ([index, ...rest]) => list[Number(index)]?.field.find(rest),
      unmark: () => list.forEach(({ field }) => field.clear()),
    };
  };

  const choice = (read, frame) => {
    const room = el('div', { class: 'room' });
    let current;
    let at = -1;
    const select = el('select', { 'aria-label': `form of ${frame.name}`, onchange: () => {
      turn(Number(select.value));
      frame.changed();
    } }, option('-1', 'choose a form'), ...read.options.map(({ label }, index) => option(String(index), dom.visible(label))));
    const turn = (index) => {
      at = index;
      select.value = String(index);
      current = undefined;
      if (index < 0) return void fill(room);
      const { schema, label } = read.options[index];
      const inner = schemas.read(schema, frame.root);
      current = inner.kind === 'object' && !inner.nullable
        ? object(inner, frame)
        : editors.field({ ...frame, name: label, schema, required: true });
      fill(room, current.node);
    };
    return {
      node: el('div', { class: 'choice' }, select, room),
      get: () => (at < 0 ? undefined : current.get()),
      set: (value) => {
        const index = read.options.findIndex(({ schema }) => schemas.fits(value, schema, frame.root));
        if (index < 0) return false;
        if (index !== at) turn(index);
        return current.set(value) !== false;
      },
      find: (path) => current?.find?.(path),
      unmark: () => (current?.unmark ?? current?.clear)?.(),
    };
  };

  return { of, object };
})();
