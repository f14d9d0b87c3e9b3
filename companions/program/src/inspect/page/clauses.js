// The conditions of one tool, and how each stands while somebody types: the program judges them when the typing pauses.

const clauses = (() => {
  const { el } = dom;
  const CLASSES = {
    exact: 'the schema says all of it',
    partial: 'the schema says a part of it, and a call checks the rest',
    described: 'no keyword of a schema says it; the description may, and a call checks it',
  };
  const WORDS = { pre: 'requires', given: 'looks up', post: 'promises' };
  // What is judged before the body; a given is looked up there.
  const BEFORE = ['pre', 'given'];
  const FAILED = ['failed', 'panicked', 'timed_out'];
  const ENDING = ['enforce', 'quick_enforce'];

  const row = (condition, tool) => {
    const get = (name) => condition.get(name) ?? undefined;
    const state = el('span', { class: 'state', 'data-state': 'open' });
    const because = el('p', { class: 'problem' });
    const facts = [
      ['rule', get('rule') ?? 'none: only this program can judge it'],
      ['policy', get('policy')],
      ['place', `${tool.get('location').replace(/:\d+:\d+$/, '')}:${get('line').text}:${get('column').text}`],
    ];
    const node = el('li', { class: 'clause', 'data-id': get('id') },
      el('div', { class: 'head' }, state,
        el('span', { class: 'verb' }, WORDS[get('kind')] ?? get('kind')), ' ',
        el('code', {}, dom.visible(get('predicate'))),
        el('span', { class: 'badge', title: CLASSES[get('lowering')] }, get('lowering'))),
      get('message') === undefined ? undefined : el('p', { class: 'about' }, 'refusal: ', el('q', {}, ...dom.message(get('message')))),
      because,
      el('details', {}, el('summary', {}, dom.visible(get('id'))),
        el('dl', {}, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, el('code', {}, dom.visible(String(value))))]))));
    const show = (value, words, reason = '') => {
      state.dataset.state = value;
      state.textContent = words;
      because.textContent = dom.visible(reason);
    };
    return { id: get('id'), kind: get('kind'), asks: get('asks') === true, ends: ENDING.includes(get('policy')), show, node };
  };

  // What the classes mean, of those that this tool has.
  const legend = (tool) => {
    const found = new Set(tool.get('conditions').map((one) => one.get('lowering')));
    const used = Object.entries(CLASSES).filter(([name]) => found.has(name));
    return el('dl', { class: 'legend', 'aria-label': 'classes of conditions' }, ...used.flatMap(([name, words]) => [
      el('dt', {}, el('span', { class: 'badge' }, name)), el('dd', { class: 'about' }, words)]));
  };

  const of = (tool) => {
    const rows = tool.get('conditions').map((condition) => row(condition, tool));
    const before = rows.filter(({ kind }) => BEFORE.includes(kind));
    for (const one of rows) if (!BEFORE.includes(one.kind)) one.show('later', 'after a call');

    // What the program says of the arguments, of every condition.
    const told = (answer) => {
      const judged = new Set(answer.get('judged'));
      const broken = new Map(answer.get('observed').map((one) => [one.get('contract'), one]));
      // A given that finds nothing is not observed: it ends the call.
      const ended = answer.get('violation') ?? undefined;
      if (ended) broken.set(ended.get('contract'), ended);
      // Nor is one that fails: it was the last that was judged.
      const last = FAILED.includes(answer.get('status')) ? answer.get('judged').at(-1) : undefined;
      const failed = before.find(({ id, kind }) => id === last && kind === 'given')?.id;
      for (const one of before) {
        const found = broken.get(one.id);
        if (found && one.asks) one.show('asks', 'asks a person');
        else if (found && one.kind === 'given') one.show('broken', 'nothing there', found.get('message') ?? '');
        else if (found) one.show('broken', one.ends ? 'broken' : 'observed', found.get('message') ?? '');
        else if (one.id === failed) one.show('broken', answer.get('status').replace('_', ' '), answer.get('error') ?? '');
        else if (judged.has(one.id) && one.kind === 'given') one.show('holds', 'found');
        else if (judged.has(one.id)) one.show('holds', 'holds');
        else one.show('open', 'waits for arguments');
      }
    };

    // Where the arguments are no JSON yet.
    const waits = () => before.forEach((one) => one.show('open', 'waits for arguments'));

    // After a call, the promises too.
    const ended = (outcome) => {
      const violation = outcome.get('violation');
      const observed = new Map(outcome.get('observed').map((one) => [one.get('contract'), one]));
      for (const one of rows) {
        const found = violation?.get('contract') === one.id ? violation : observed.get(one.id);
        if (found && one.kind === 'given') one.show('broken', 'nothing there', found.get('message') ?? '');
        else if (found) one.show('broken', violation === found ? 'broken' : 'observed', found.get('message') ?? '');
        else if (!BEFORE.includes(one.kind)) {
          const kept = outcome.get('status') === 'ok';
          one.show(kept ? 'holds' : 'later', kept ? 'kept' : 'not reached');
        }
      }
    };

    const node = rows.length > 0
      ? el('div', {}, el('ol', { class: 'clauses' }, ...rows.map((one) => one.node)), legend(tool))
      : el('p', { class: 'about' }, 'No conditions beyond its types.');
    return { node, told, waits, ended };
  };

  return { of };
})();
