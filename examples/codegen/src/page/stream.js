// What the service is asked, and the events of a run as they happen.

const service = (() => {
  const token = new URLSearchParams(location.search).get('token') ?? '';

  const ask = async (path, body) => {
    const headers = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error.message);
    return value;
  };

  // The events of a run until it is over; the stream is opened again where it broke off. A hidden tab has none: a browser opens
  // six connections to a server over HTTP/1.1, and with six streams every other request would wait.
  const follow = async (id, signal, hear, say) => {
    let after = 0;
    for (let tries = 0; !signal.aborted; tries += 1) {
      const leaves = new AbortController();
      const turned = () => new Promise((next) => document.addEventListener('visibilitychange', next, { once: true }));
      if (document.hidden) await turned();
      turned().then(() => leaves.abort());
      try {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await fetch(`/api/runs/${id}/events?after=${after}`, { headers, signal: AbortSignal.any([signal, leaves.signal]) });
        if (!answer.ok) throw new Error(`status ${answer.status}`);
        say('');
        tries = 0;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          const frames = (rest + value).split('\n\n');
          rest = frames.pop();
          for (const frame of frames) {
            const data = frame.split('\n').find((line) => line.startsWith('data: '));
            if (data === undefined) continue;
            const event = JSON.parse(data.slice(6));
            after = event.sequence;
            if (hear(event)) return;
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        if (leaves.signal.aborted) continue;
        say('The backend does not answer; has it ended?');
      }
      await new Promise((next) => setTimeout(next, Math.min(500 * 2 ** tries, 10000)));
    }
  };

  return { ask, follow };
})();
