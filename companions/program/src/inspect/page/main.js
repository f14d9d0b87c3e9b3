// The page: a list of tools, one tool at a time, and the calls as they happen.

(async () => {
  const { el, fill, button } = dom;
  const token = new URLSearchParams(location.search).get('token') ?? '';
  const at = (id) => document.getElementById(id);
  const PAUSE = 200;

  const ask = async (path, body, signal) => {
    const headers = { authorization: `Bearer ${token}` };
    if (body) headers['content-type'] = 'application/json';
    const answer = await fetch(path, { method: body ? 'POST' : 'GET', headers, body, signal });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim() || `status ${answer.status}`);
    return text;
  };
  const wanted = (name, text, answer) => JSON.stringify({ name, arguments: text, answer });

  const confirmed = (name) => new Promise((answer) => {
    const dialog = at('confirm');
    fill(at('confirm-words'), 'Call ', el('code', {}, dom.visible(name)), '? It says that it may remove or overwrite something.');
    dialog.returnValue = 'no';
    dialog.onclose = () => answer(dialog.returnValue === 'yes');
    dialog.showModal();
  });

  const hints = (tool) => {
    const given = tool.get('hints');
    const words = { read_only: ['read-only', 'changes things'], destructive: ['destructive', 'not destructive'], idempotent: ['idempotent', 'not idempotent'], open_world: ['open world', 'closed world'] };
    return Object.entries(words)
      .filter(([name]) => typeof given.get(name) === 'boolean')
      .map(([name, [yes, no]]) => el('span', { class: 'badge', 'data-hint': `${name}-${given.get(name)}` }, given.get(name) ? yes : no));
  };

  let leave = () => {};

  const show = (tool) => {
    leave();
    const name = tool.get('name');
    const conditions = clauses.of(tool);
    const result = el('div', { class: 'outcome', role: 'status', tabindex: '-1' }, el('p', { class: 'about' }, 'What comes of a call will be here: its result, its pictures and files, or why it was refused.'));
    const run = button('Call', () => call(), { class: 'run' });
    // Buttons that cannot be used now stay enabled, because a button that is disabled loses the focus.
    const stop = button('Cancel', () => running?.abort(), { 'aria-disabled': 'true' });
    const busy = (is) => {
      run.setAttribute('aria-disabled', String(is));
      stop.setAttribute('aria-disabled', String(!is));
    };
    let running;
    let called = false;
    let checking;
    let timer;

    const typed = () => {
      clearTimeout(timer);
      checking?.abort();
      timer = setTimeout(check, PAUSE);
    };
    const check = async () => {
      checking = new AbortController();
      const { signal } = checking;
      if (form.args() === undefined) {
        conditions.waits();
        return form.mark([]);
      }
      try {
        const answer = json.read(await ask('/api/check', wanted(name, form.text()), signal));
        if (signal.aborted) return;
        form.mark((answer.get('problems') ?? []).map(json.plain), called);
        conditions.told(answer);
      } catch (error) {
        if (error.name !== 'AbortError') fill(result, el('p', { class: 'problem' }, dom.visible(error.message)));
      }
    };
    // A tool that always asks needs no second question.
    const warns = tool.get('hints').get('destructive') === true && tool.get('approval') !== 'always';
    const call = async () => {
      if (running) return;
      if (warns && !(await confirmed(name))) return;
      await made(form.text());
    };
    // The call with these arguments, whatever the form says by the time that a question of it is answered.
    const made = async (text, answer) => {
      if (running) return;
      running = new AbortController();
      busy(true);
      // The approval form that goes away may have the focus.
      if (result.contains(document.activeElement)) result.focus();
      fill(result, el('p', { class: 'about' }, 'running…'));
      try {
        const outcome = json.read(await ask('/api/call', wanted(name, text, answer), running.signal));
        const request = outcome.get('request');
        fill(result, ...outcomes.show(outcome), request !== null && approvals.form(request, (given) => made(text, given)));
        called = true;
        form.mark((outcome.get('problems') ?? []).map(json.plain), called);
        conditions.ended(outcome);
      } catch (error) {
        fill(result, el('p', { class: 'problem' }, error.name === 'AbortError' ? 'Cancelled.' : dom.visible(error.message)));
      }
      running = undefined;
      busy(false);
      result.parentElement.scrollIntoView({ block: 'nearest' });
    };
    const form = forms.of(tool, typed);
    const forms4 = el('pre', { class: 'text' });
    const four = el('details', { ontoggle: async () => {
      if (four.open && forms4.textContent === '') forms4.textContent = dom.visible(await ask(`/api/explain?name=${encodeURIComponent(name)}`));
    } }, el('summary', {}, 'The contract in its four forms'), forms4);
    const findings = tool.get('findings');
    fill(at('tool'),
      el('h2', { tabindex: '-1' }, dom.visible(name)),
      el('p', { class: 'badges' }, ...hints(tool), tool.get('approval') !== null && el('span', { class: 'badge', 'data-hint': 'asks' }, tool.get('approval') === 'always' ? 'asks a person' : 'may ask a person'), tool.get('timeout') !== null && el('span', { class: 'badge' }, `timeout ${Number(tool.get('timeout').text) / 1000} s`)),
      tool.get('title') !== null && el('p', { class: 'title' }, dom.visible(tool.get('title'))),
      el('pre', { class: 'description' }, dom.visible(tool.get('description'))),
      el('p', { class: 'about' }, el('code', {}, dom.visible(tool.get('location')))),
      el('section', { 'aria-label': 'contract' }, el('h3', {}, 'Contract'), conditions.node,
        findings.length > 0 && el('ul', { class: 'about' }, ...findings.map((one) => el('li', {}, dom.visible(one))))),
      el('section', { 'aria-label': 'arguments' }, el('h3', {}, 'Arguments'),
        el('form', { onsubmit: (event) => { event.preventDefault(); call(); }, onkeydown: (event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) call();
        } }, form.node, el('p', { class: 'buttons' }, run, stop, el('span', { class: 'about' }, 'Ctrl+Enter calls')))),
      el('section', { 'aria-label': 'outcome' }, el('h3', {}, 'Outcome'), result),
      four);
    leave = () => {
      clearTimeout(timer);
      checking?.abort();
    };
    typed();
  };

  let all;
  try {
    all = json.read(await ask('/api/tools'));
  } catch (error) {
    fill(at('tool'), el('p', { class: 'problem' }, dom.visible(error.message)));
    return;
  }
  const program = all.get('program');
  const tools = all.get('tools');
  if (program !== null) {
    at('program').textContent = dom.visible(`${program.get('name')} ${program.get('version')}`);
    document.title = `${dom.visible(program.get('name'))} – tools`;
  }

  const links = tools.map((tool) => {
    const link = el('a', { href: `#${encodeURIComponent(tool.get('name'))}` },
      el('span', { class: 'name' }, dom.visible(tool.get('name'))),
      el('span', { class: 'about' }, dom.visible(tool.get('description').split('\n')[0])));
    return { tool, link, item: el('li', {}, link), words: `${tool.get('name')} ${tool.get('title') ?? ''} ${tool.get('description')}`.toLowerCase() };
  });
  fill(at('list'), ...links.map(({ item }) => item));
  const count = (number) => (at('count').textContent = number === 1 ? '1 tool' : `${number} tools`);
  count(tools.length);
  at('search').addEventListener('input', () => {
    const parts = at('search').value.toLowerCase().split(/\s+/);
    let found = 0;
    for (const { item, words } of links) {
      item.hidden = !parts.every((part) => words.includes(part));
      found += item.hidden ? 0 : 1;
    }
    count(found);
  });
  at('search').addEventListener('keydown', (event) => {
    const shown = links.filter(({ item }) => !item.hidden);
    if (event.key !== 'Enter' || shown.length !== 1) return;
    event.preventDefault();
    if (location.hash === shown[0].link.hash) go(true);
    else location.hash = shown[0].link.hash;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    at('search').focus();
  });

  const go = (focus) => {
    let name = '';
    try {
      name = decodeURIComponent(location.hash.slice(1));
    } catch {
      // Not one of ours.
    }
    const chosen = links.find(({ tool }) => tool.get('name') === name) ?? (focus ? undefined : links[0]);
    for (const { link, tool } of links) {
      if (tool === chosen?.tool) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    if (!chosen) return void fill(at('tool'), el('p', {}, 'There is no tool of that name.'));
    show(chosen.tool);
    if (focus) at('tool').querySelector('h2').focus();
  };
  window.addEventListener('hashchange', () => go(true));
  if (links.length > 0) go(false);
  else fill(at('tool'), el('p', {}, 'The registry holds no tools.'));

  const { hear } = following.panel(at('calls'), at('calls-note'));
  following.follow(token, hear, (words) => (at('lost').textContent = words));
})();
