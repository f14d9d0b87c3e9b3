// Editors of one value. Each is `{node, get, set, find}`: `get` gives the value or `undefined` for none, `set` says whether
// it could take the value, `find` leads from a path of keys to the field that shows it.

const editors = (() => {
  const { el, id, option } = dom;
  const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

  // What is written as text. It never refuses: what is no number is sent as the text that it is, and the tool says so.
  const scalar = (kind, secret, label, changed) => {
    const attributes = { id: label, spellcheck: 'false', autocomplete: 'off', oninput: () => changed() };
    const node = kind === 'string' && !secret
      ? el('textarea', { ...attributes, rows: '1' })
      : el('input', { ...attributes, type: secret ? 'password' : 'text', inputmode: kind === 'string' ? undefined : 'decimal' });
    const get = () => {
      if (kind === 'string') return node.value;
      const text = node.value.trim();
      if (text === '') return undefined;
      return NUMBER.test(text) ? new Num(text) : node.value;
    };
    const set = (value) => {
      if (kind === 'string' ? typeof value !== 'string' : !(value instanceof Num)) return false;
      node.value = kind === 'string' ? value : value.text;
      return kind !== 'string' || node.value === value;
    };
    return { node, get, set, clear: () => (node.value = '') };
  };

  // Anything, as JSON text.
  const raw = (label, changed) => {
    const problem = el('p', { class: 'problem', role: 'status' });
    const area = el('textarea', { id: label, rows: '3', class: 'code', spellcheck: 'false', autocomplete: 'off' });
    let value;
    area.addEventListener('input', () => {
      problem.textContent = '';
      value = undefined;
      try {
        if (area.value.trim() !== '') value = json.read(area.value);
      } catch (error) {
        // Sent as a text, it is refused where a text is refused.
        value = area.value;
        problem.textContent = `not JSON: ${error.message}`;
      }
      changed();
    });
    const set = (given) => {
      value = given;
      area.value = json.pretty(given);
      problem.textContent = '';
      return true;
    };
    return { node: el('div', { class: 'raw' }, area, problem), get: () => value, set, clear: () => { area.value = ''; value = undefined; } };
  };

  // One of a few values; its states are among them.
  const listed = (read, states, label, changed) => {
    const node = el('select', { id: label, onchange: () => changed() });
    for (const [state, words] of states) node.append(option(state, words));
    read.values.forEach(({ label: words, about }, index) =>
      node.append(option(`v${index}`, about ? `${words} (${about.split('\n')[0]})` : words)));
    const get = () => {
      if (node.value === 'absent') return undefined;
      return node.value === 'null' ? null : read.values[Number(node.value.slice(1))]?.value;
    };
    const set = (value) => {
      if (value === undefined) node.value = 'absent';
      else if (value === null && states.some(([state]) => state === 'null')) node.value = 'null';
      else {
        const index = read.values.findIndex((one) => json.same(one.value, value));
        if (index < 0) return false;
        node.value = `v${index}`;
      }
      return true;
    };
    return { node, get, set };
  };

  // A named field: a label, the state of the value, its editor, what the schema says, and what is wrong with it.
  const field = ({ name, schema, root, required, secret, changed, depth = 0 }) => {
    const read = schemas.read(schema, root);
    const label = id();
    const wrong = el('p', { class: 'problem', id: id(), role: 'status' });
    const about = el('p', { class: 'about' });
    const fallback = raw(label, () => { state = 'value'; settle(); changed(); });
    const missing = required ? 'not given' : 'absent';
    const states = [['absent', missing], ...(read.nullable ? [['null', 'null']] : [])];
    const compound = ['object', 'array', 'choice'].includes(read.kind);
    // Required objects and lists are shown open, and stay absent until the user types into them.
    const opens = required && ['object', 'array'].includes(read.kind) && depth <= 3;
    let state = 'absent';
    let usual;
    let odd = false;

    const touched = () => {
      state = !compound && usual.get() === undefined ? 'absent' : 'value';
      // What was said of another value.
      mark('');
      settle();
      changed();
    };
    const whole = read.kind === 'listed' || depth > 40;
    const select = whole ? undefined : el('select', { class: 'state', 'aria-label': `state of ${name}`, onchange: () => {
      state = select.value;
      odd = odd && state === 'value';
      settle();
      changed();
    } });
    select?.append(...states.map(([value, words]) => option(value, words)), option('value', 'given'));
    if (read.kind === 'listed') usual = listed(read, states, label, () => { odd = false; settle(); changed(); });
    else if (compound && depth <= 40) usual = undefined;
    else if (['string', 'integer', 'number'].includes(read.kind)) usual = scalar(read.kind, secret, label, touched);
    else usual = raw(label, touched);
    const room = el('div', { class: 'room' });

    const build = () => (usual ??= compounds.of(read, { root, label, changed: touched, depth: depth + 1, name }));
    const settle = () => {
      if (select) select.value = state;
      const editor = odd ? fallback : compound && state !== 'value' && !(opens && state === 'absent') ? undefined : build();
      if (room.firstChild !== editor?.node) dom.fill(room, editor?.node);
      room.classList.toggle('faint', !whole && state !== 'value');
      if (!compound) dom.invalid(room.querySelector('input, textarea, select'), wrong);
    };
    const get = () => {
      if (odd) return fallback.get();
      if (whole) return usual.get();
      if (state === 'null') return null;
      return state === 'value' ? build().get() : undefined;
    };
    const set = (value) => {
      odd = false;
      if (whole && usual.set(value)) return settle(), true;
      if (!whole && (value === undefined || (value === null && read.nullable))) {
        state = value === undefined ? 'absent' : 'null';
        usual?.clear?.();
        if (opens) usual = undefined;
        return settle(), true;
      }
      state = 'value';
      if (whole || !build().set(value)) {
        odd = true;
        fallback.set(value);
      }
      return settle(), true;
    };
    const mark = (text) => {
      wrong.textContent = text;
      node.classList.toggle('wrong', text !== '');
      dom.invalid(compound ? undefined : room.querySelector('input, textarea, select'), wrong);
    };
    const find = (path) => (path.length > 0 && !odd && usual?.find?.(path)) || { mark, show: () => node };
    const clear = () => {
      mark('');
      usual?.unmark?.();
    };
    const examples = [...(read.schema.get('examples') ?? []), ...(read.schema.has('default') ? [read.schema.get('default')] : [])];
    const fills = examples.map((example) => dom.button(`use ${clip(json.write(example))}`, () => {
      set(example);
      changed();
    }, { class: 'fill' }));
    const words = [schemas.says(read), read.schema.get('description')].filter(Boolean);
    dom.fill(about, words.join(' — '));
    const title = [el('span', { class: 'name' }, dom.visible(name)), required ? el('span', { class: 'must', title: 'required' }, ' *') : undefined];
    const head = compound
      ? el('span', { class: 'label', id: label }, ...title)
      : el('label', { for: label, class: 'label' }, ...title);
    const node = el('div', { class: 'field', role: compound ? 'group' : undefined, 'aria-labelledby': compound ? label : undefined },
      el('div', { class: 'head' }, head, select, ...fills), room, wrong, about);
    settle();
    return { node, get, set, find, mark, clear };
  };

  const clip = (text) => (text.length > 30 ? `${text.slice(0, 29)}…` : text);

  return { field, raw };
})();
