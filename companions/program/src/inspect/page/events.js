// Follows the calls of all clients live.

const following = (() => {
  const { el, fill } = dom;
  const SHOWN = 200;

  // The stream of events, opened again where it broke off. A hidden tab has none: a browser opens six connections to a server
  // over HTTP/1.1, and with six streams every other request would wait.
  const follow = async (token, hear, say) => {
    let last = 0;
    for (let tries = 0; ; tries += 1) {
      const leaves = new AbortController();
      const turned = () => new Promise((next) => document.addEventListener('visibilitychange', next, { once: true }));
      if (document.hidden) await turned();
      turned().then(() => leaves.abort());
      try {
        const headers = { authorization: `Bearer ${token}`, 'last-event-id': String(last) };
        const answer = await fetch('/api/events', { headers, signal: leaves.signal });
        if (!answer.ok) throw new Error(await answer.text());
        say('');
        tries = 0;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          const frames = (rest + value).split('\n\n');
          rest = frames.pop();
          for (const frame of frames) last = heard(frame, hear) ?? last;
        }
      } catch {
        if (leaves.signal.aborted) continue;
        say('The program does not answer; has it ended?');
      }
      await new Promise((next) => setTimeout(next, Math.min(500 * 2 ** tries, 10000)));
    }
  };

  const heard = (frame, hear) => {
    let number;
    for (const line of frame.split('\n')) {
      if (line.startsWith('id: ')) number = Number(line.slice(4));
      if (line.startsWith('data: ')) hear(json.read(line.slice(6)));
    }
    return number;
  };

  const panel = (list, note) => {
    const calls = new Map();

    const begin = (number, event) => {
      const status = el('span', { class: 'status', 'data-status': 'running' }, 'running');
      const steps = el('ol', { class: 'steps' });
      const took = el('span', { class: 'about' });
      const node = el('li', { class: 'call', 'data-call': number },
        el('details', {},
          el('summary', {}, status, ' ', el('code', {}, dom.visible(event.get('tool') ?? '')), ' ', took,
            event.get('from') === 'page' ? undefined : el('span', { class: 'badge' }, event.get('from') ?? 'before')),
          el('pre', {}, dom.visible(event.get('arguments') ?? '')), steps));
      const call = { node, status, steps, took };
      calls.set(number, call);
      document.getElementById('no-calls').hidden = true;
      list.prepend(node);
      while (calls.size > SHOWN) {
        const [oldest, { node: gone }] = calls.entries().next().value;
        gone.remove();
        calls.delete(oldest);
      }
      return call;
    };

    const step = (call, kind, ...words) => call.steps.append(el('li', { 'data-kind': kind }, ...words));

    const hear = (event) => {
      const kind = event.get('kind');
      if (kind === 'missed' || kind === 'dropped') {
        fill(note, kind === 'missed' ? `${event.get('count').text} earlier events are not kept any more.` : 'This page was too slow; some events may be missing.');
        return;
      }
      const number = event.get('call').text;
      const call = calls.get(number) ?? begin(number, event);
      switch (kind) {
        case 'check':
          return step(call, kind, 'checks ', el('code', {}, dom.visible(event.get('contract'))), ' ', el('code', {}, dom.visible(event.get('predicate'))));
        case 'violation':
          return step(call, kind, dom.visible(event.get('text')));
        case 'log':
          return step(call, kind, el('code', {}, event.get('level')), ' ', dom.visible(event.get('text')));
        case 'entered':
          return step(call, kind, 'the body runs');
        case 'ended': {
          const untold = Number(event.get('untold').text);
          if (untold > 0) step(call, 'check', `and ${untold} further checks and messages`);
          call.status.dataset.status = event.get('status');
          call.status.textContent = event.get('status').replaceAll('_', ' ');
          call.took.textContent = `${Number(event.get('milliseconds').text).toFixed(1)} ms`;
          const text = dom.visible(event.get('text'));
          // A violation has been told already.
          return call.steps.lastChild?.textContent === text || step(call, kind, text);
        }
      }
    };
    return { hear };
  };

  return { follow, panel };
})();
