// The log of one run: each event becomes a line, or changes the line of its call.

const logs = (() => {
  const { el, fill } = dom;

  const STATES = { queued: 'queued', running: 'running', waiting_input: 'waiting for answers', waiting_approval: 'waiting for approval', completed: 'completed', failed: 'failed', cancelled: 'cancelled' };
  const FOUND = { backend: 'found by the backend: the call never travelled', executor: 'found by the executor', agent: 'found by the agent' };

  const state = (name) => el('span', { class: 'state', 'data-state': name }, STATES[name] ?? name);

  // JSON with spaces, where it is JSON.
  const pretty = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), undefined, 1);
    } catch {
      return text;
    }
  };

  // What a call is about: the first text or list of texts among its arguments, such as a path or a command.
  const subject = (text) => {
    try {
      const all = Object.values(JSON.parse(text)).map((value) => [value].flat());
      const first = all.find((parts) => parts.length > 0 && parts.every((part) => typeof part === 'string'))?.join(' ') ?? '';
      return first.length > 80 ? `${first.slice(0, 79)}…` : first;
    } catch {
      return '';
    }
  };

  const log = (list, broken) => {
    const calls = new Map();
    let piece;
    let spoken;

    const line = (kind, ...children) => {
      piece = undefined;
      const item = el('li', { 'data-kind': kind }, ...children);
      list.append(item);
      return item;
    };

    const call = (event) => {
      const verdict = el('span', { class: 'verdict' }, 'under way');
      const progress = el('span', { class: 'progress' });
      const found = el('div');
      const result = el('pre', { hidden: true });
      const item = line('call', el('details', {},
        el('summary', {}, el('code', {}, dom.visible(event.tool)), ' ', el('span', { class: 'subject' }, dom.visible(subject(event.arguments))), ' ', verdict, progress),
        el('pre', {}, dom.visible(pretty(event.arguments))), result), found);
      calls.set(event.call_id, { item, verdict, progress, found, result, tool: event.tool });
    };

    const violation = (event) => {
      const node = el('div', { class: 'violation', 'data-clause': event.clause },
        el('code', {}, dom.visible(event.clause)), ' ', el('code', {}, dom.visible(event.predicate)),
        el('p', {}, dom.visible(event.message)), el('span', { class: 'about' }, FOUND[event.found_by]));
      broken(event.clause);
      const open = [...calls.values()].reverse().find((one) => one.tool === event.tool && one.verdict.textContent === 'under way');
      if (open) open.found.append(node);
      else line('violation', node);
    };

    // How far a call is: what comes later stands in the place of what came before.
    const progress = (event) => {
      const one = calls.get(event.call_id);
      if (!one) return;
      const share = event.total === null ? `${event.done}` : `${event.done} of ${event.total}`;
      fill(one.progress, ` ${share} ${dom.visible(event.message)}`);
    };

    const diff = (event) => {
      if (event.text === '') return void line('state', 'nothing has changed in the project');
      const kind = (text) => ({ '+': 'added', '-': 'gone', '@': 'place' })[text[0]];
      const lines = event.text.replace(/\n$/, '').split('\n');
      if (event.shortened) lines.push('[..]');
      line('diff', el('details', { open: true }, el('summary', {}, 'what has changed in the project'),
        el('pre', { tabindex: '0', 'aria-label': 'diff' }, ...lines.map((text) => el('span', { class: kind(text) }, dom.visible(text), '\n')))));
    };

    const ended = (event) => {
      const one = calls.get(event.call_id);
      if (!one) return;
      fill(one.progress);
      const status = event.status === 'ok' ? 'ok' : 'bad';
      fill(one.verdict, dom.visible(event.status.replaceAll('_', ' ')));
      one.verdict.dataset.status = status;
      one.item.dataset.status = status;
      if (!event.travelled) one.verdict.after(el('span', { class: 'badge' }, 'never travelled'));
      one.result.hidden = false;
      fill(one.result, dom.visible(pretty(event.text)));
    };

    const hear = (event) => {
      switch (event.type) {
        case 'text_delta':
          if (!piece) {
            spoken = line('said', el('p'));
            piece = spoken.firstChild;
          }
          piece.append(dom.visible(event.text));
          return;
        case 'state':
          return void line('state', STATES[event.state] ?? event.state);
        case 'message':
          return void line('message', el('p', {}, dom.visible(event.text)));
        case 'attached':
          return void line('state', `${event.tools.length} tools of the executor were taken`,
            ...event.refused.map((one) => el('p', { class: 'problem' }, `left out ${dom.visible(one)}`)));
        case 'tool_call':
          return call(event);
        case 'violation':
          return violation(event);
        case 'tool_progress':
          return progress(event);
        case 'diff':
          return diff(event);
        case 'tool_result':
          return ended(event);
        case 'retry':
          return void line('state', `attempt ${event.attempt}; the model reads why: ${dom.visible(event.clause)}`);
        case 'approval_requested':
          return void line('approval', ...event.approval.questions.map((text) => el('p', {}, dom.visible(text))));
        case 'approval_answered':
          return void line('state', event.approved ? 'approved' : `denied: ${dom.visible(event.reason)}`);
        case 'notice':
          return void line('notice', dom.visible(event.text));
        case 'error':
          return void line('error', el('p', {}, dom.visible(event.message)));
        case 'answer':
          // It stands above, piece by piece.
          spoken?.setAttribute('data-kind', 'answer');
          return;
        default:
      }
    };
    return { hear };
  };

  return { log, state, pretty };
})();
