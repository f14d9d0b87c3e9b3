// The page: runs, one run at a time with its log, and the contracts that hold for it.

(() => {
  const { el, fill, button } = dom;
  const at = (id) => document.getElementById(id);
  const say = (words) => (at('lost').textContent = words);
  const attempt = (place, ask) => ask().catch((error) => fill(place, dom.visible(error.message)));
  const OVER = ['completed', 'failed', 'cancelled'];

  let shown, known, leave = () => {};
  const counts = new Map();

  const broken = (clause) => {
    counts.set(clause, (counts.get(clause) ?? 0) + 1);
    mark(clause);
  };
  const mark = (clause) => {
    for (const item of at('contracts').querySelectorAll('li')) {
      if (item.dataset.id !== clause) continue;
      item.dataset.broken = '';
      fill(item.querySelector('.count'), `broken ${counts.get(clause)}×`);
      item.closest('details').open = true;
    }
  };

  const contracts = async () => {
    const { connected, tools } = await service.ask('/api/tools');
    const presence = connected ? `an executor with ${tools.length} tools` : tools.length > 0 ? 'the executor is not connected' : 'no executor yet';
    // A status that is written again is read out again.
    if (at('executor').textContent !== presence) at('executor').textContent = presence;
    const now = JSON.stringify(tools);
    if (tools.length === 0 || now === known) return;
    known = now;
    at('contracts-note').textContent = '● judged by the backend before a call travels, and by the executor; ○ by the executor alone';
    fill(at('contracts'), ...tools.map((tool) => el('details', { class: 'tool', 'data-tool': tool.name },
      el('summary', {}, el('code', {}, dom.visible(tool.name)), el('span', { class: 'badge' }, `${tool.clauses.length} clauses`)),
      el('p', { class: 'about' }, dom.visible(tool.description)),
      el('ul', {}, ...tool.clauses.map((clause) => el('li', { 'data-id': clause.id },
        clause.judged_here ? '● ' : '○ ', el('span', { class: 'about' }, clause.kind), ' ', el('code', {}, dom.visible(clause.predicate)), ' ',
        el('span', { class: 'count' }), clause.message !== null && el('p', { class: 'about' }, ...dom.message(clause.message))))))));
    for (const clause of counts.keys()) mark(clause);
  };

  const show = (run) => {
    leave();
    const stop = new AbortController();
    leave = () => stop.abort();
    shown = run.id;
    counts.clear();
    for (const item of at('contracts').querySelectorAll('li[data-broken]')) {
      delete item.dataset.broken;
      item.closest('details').open = false;
      fill(item.querySelector('.count'));
    }
    const state = el('span', {});
    const problem = el('p', { class: 'problem', role: 'alert' });
    const cancel = button('Cancel', () => attempt(problem, () => service.ask(`/api/runs/${run.id}/cancel`, {})));
    const list = el('ol', { class: 'log' });
    const interview = el('div', { class: 'questions' });
    const heading = el('h2', { tabindex: '-1' }, dom.visible(run.task));
    fill(at('run'), el('div', { class: 'head' }, heading, state, cancel), problem, list, interview);
    const { hear } = logs.log(list, broken);
    let questions = [];
    let approval;
    // While the end of a run under way is in view, it stays in view; measured once a frame, because a log may be long.
    let due = OVER.includes(run.state);
    const keepEnd = () => {
      if (due) return;
      const end = interview.getBoundingClientRect().bottom;
      if (end < 0 || end > innerHeight + 40) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        interview.scrollIntoView({ block: 'nearest' });
      });
    };
    service.follow(run.id, stop.signal, (event) => {
      keepEnd();
      hear(event);
      if (event.type === 'questions') questions = event.questions;
      if (event.type === 'approval_requested') approval = event.approval;
      if (event.type !== 'state') return false;
      fill(state, logs.state(event.state));
      const held = interview.contains(document.activeElement) || document.activeElement === cancel;
      cancel.hidden = OVER.includes(event.state);
      const asks = event.state === 'waiting_input';
      fill(interview, asks && forms.interview(questions, async (answers) => {
        await service.ask('/api/chat?wait=0', { session_id: run.id, answers });
      }), event.state === 'waiting_approval' && forms.approval(approval, async (decision) => {
        await service.ask(`/api/runs/${run.id}/approval`, decision);
      }));
      // What had the focus is gone.
      if (held && !at('run').contains(document.activeElement)) heading.focus({ preventScroll: true });
      refresh();
      return OVER.includes(event.state);
    }, say);
  };

  const item = (run) => el('li', {},
    el('a', { href: `#${run.id}`, 'aria-current': run.id === shown ? 'page' : undefined },
      el('span', { class: 'name' }, dom.visible(run.task)), logs.state(run.state), ' ',
      el('span', { class: 'about' }, new Date(run.began_ms).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }))));

  // An item that would read the same stays in its place: replacing it would lose its focus, or a click that has begun on it.
  const items = new Map();
  const list = (runs) => {
    const [place, focused] = [at('runs'), document.activeElement];
    const isFocused = place.contains(focused);
    const wanted = new Map(runs.map((run) => [JSON.stringify([run, run.id === shown]), run]));
    for (const [said, old] of items) if (!wanted.has(said) && items.delete(said)) old.remove();
    [...wanted].forEach(([said, run], number) => {
      const one = items.get(said) ?? item(run);
      items.set(said, one);
      if (place.children[number] !== one) place.insertBefore(one, place.children[number] ?? null);
    });
    if (isFocused) [...place.querySelectorAll('a')].find((link) => link.hash === focused.hash)?.focus();
  };

  const refresh = async () => {
    try {
      const runs = await service.ask('/api/runs');
      await contracts();
      say('');
      const wanted = runs.find((run) => run.id === location.hash.slice(1)) ?? runs[0];
      if (wanted && wanted.id !== shown) show(wanted);
      list(runs);
    } catch (error) {
      say(error instanceof TypeError ? 'The backend does not answer; has it ended?' : dom.visible(error.message));
    }
  };

  at('begin').addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(fill(at('begin-problem')), async () => {
      const begun = await service.ask('/api/chat?wait=0', { message: at('task').value });
      at('task').value = '';
      location.hash = begun.session_id;
      await refresh();
    });
  });
  at('task').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) at('begin').requestSubmit();
  });
  window.addEventListener('hashchange', async () => {
    await refresh();
    at('run').querySelector('h2')?.focus();
  });
  refresh();
  setInterval(refresh, 1000);
})();
