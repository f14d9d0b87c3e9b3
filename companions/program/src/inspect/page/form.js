// The arguments of one call: a form and the JSON text of the same, each written when the other changes.

const forms = (() => {
  const { el } = dom;

  const of = (tool, changed) => {
    const root = tool.get('input');
    const read = { kind: 'object', nullable: false, schema: schemas.resolved(root, root) };
    const problem = el('p', { class: 'problem', id: dom.id(), role: 'status' });
    const label = dom.id();
    const area = el('textarea', { id: label, class: 'code', rows: '6', spellcheck: 'false', autocomplete: 'off' });
    let args = new Map();
    let text = '{}';

    const fresh = () => {
      args = fields.get();
      text = json.write(args);
      area.value = json.pretty(args);
      problem.textContent = '';
      dom.invalid(area, problem);
      changed();
    };
    const fields = compounds.object(read, { root, changed: fresh, depth: 0, secrets: tool.get('secrets') });
    area.addEventListener('input', () => {
      text = area.value;
      try {
        const value = json.read(area.value);
        args = value instanceof Map ? value : undefined;
        problem.textContent = args ? '' : 'the arguments of a call are an object';
        if (args) fields.set(args);
      } catch (error) {
        args = undefined;
        problem.textContent = `not JSON: ${error.message}`;
      }
      dom.invalid(area, problem);
      changed();
    });
    const general = el('p', { class: 'problem', role: 'status' });
    // Problems of the arguments, each at the field it speaks of. What is missing is a mistake only once the tool is called.
    const mark = (problems, called) => {
      fields.unmark();
      const rest = [];
      for (const one of problems.filter(({ kind }) => called || kind !== 'missing')) {
        const path = one.pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
        const found = path.length > 0 ? fields.find(path) : undefined;
        if (found) found.mark(dom.visible(one.text));
        else rest.push(one.text);
      }
      general.textContent = dom.visible(rest.join('; '));
    };
    const takes = (read.schema.get('properties')?.size ?? 0) > 0 || read.schema.get('additionalProperties') !== false;
    const node = el('div', { class: 'form' },
      takes ? fields.node : el('p', { class: 'about' }, 'It takes no arguments.'),
      general,
      el('details', { class: 'json', open: true },
        el('summary', {}, 'JSON'),
        el('label', { for: label, class: 'about' }, 'The arguments as they are sent; write here or above.'),
        area, problem));
    const fill = (value) => {
      fields.set(value);
      fresh();
    };
    area.value = '{}';
    return { node, mark, fill, args: () => args, text: () => text };
  };

  return { of };
})();
