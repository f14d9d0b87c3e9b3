// What came of a call.

const outcomes = (() => {
  const { el } = dom;
  const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
  const LONGEST = 200000;

  const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

  // Addresses of pictures and files, until the next outcome takes their place.
  let addresses = [];
  const address = (data, type) => {
    const url = URL.createObjectURL(new Blob([data], { type }));
    addresses.push(url);
    return url;
  };
  const forget = () => {
    addresses.forEach((url) => URL.revokeObjectURL(url));
    addresses = [];
  };

  const clipped = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text);

  const artifact = (one) => {
    const type = one.get('type');
    if (type === 'value') {
      return el('figure', { class: 'artifact' }, el('figcaption', {}, dom.visible(one.get('name'))),
        el('pre', {}, clipped(json.pretty(one.get('value')))));
    }
    const data = bytes(one.get('base64'));
    const media = one.get('media_type');
    const name = one.get('name') ?? 'picture';
    const caption = el('figcaption', {}, dom.visible(`${name} (${media}, ${data.length} bytes)`));
    // Downloaded as plain bytes: an HTML document of a tool would run its scripts on this page.
    const save = el('a', { href: address(data, 'application/octet-stream'), download: name.replace(/[^\w. -]/g, '_') }, 'save');
    const picture = type === 'image' && PICTURES.test(media) && el('img', { src: address(data, media), alt: dom.visible(name) });
    return el('figure', { class: 'artifact' }, picture, caption, save);
  };

  const values = (violation) =>
    violation.get('values').size > 0 &&
    el('dl', {}, ...[...violation.get('values')].flatMap(([name, value]) => [
      el('dt', {}, dom.visible(name)), el('dd', {}, el('code', {}, dom.visible(json.write(value))))]));

  const violation = (one, title) =>
    el('section', { class: 'violation' },
      el('h4', {}, title),
      one.get('message') !== undefined && el('p', {}, dom.visible(one.get('message'))),
      el('p', {}, el('code', {}, dom.visible(one.get('predicate')))),
      values(one),
      el('p', { class: 'about' }, dom.visible(`${one.get('contract')}, policy ${one.get('policy')}, decided by ${one.get('origin')}; up to the ${one.get('blame')}`)));

  const show = (outcome) => {
    forget();
    const status = outcome.get('status');
    const took = Number(outcome.get('milliseconds').text);
    const text = outcome.get('text');
    const parts = [el('p', { class: 'verdict' },
      el('span', { class: 'status', 'data-status': status }, status.replaceAll('_', ' ')),
      el('span', { class: 'about' }, ` in ${took < 10 ? took.toFixed(2) : took.toFixed(0)} ms`))];
    if (outcome.get('error') !== null) parts.push(el('pre', { class: 'error' }, dom.visible(clipped(outcome.get('error')))));
    if (outcome.get('running') === true) parts.push(el('p', { class: 'problem' }, 'It may still be running.'));
    if (text !== null) parts.push(el('pre', { class: 'text' }, text === '' ? '(nothing)' : clipped(readable(text, outcome.get('json')))));
    if (outcome.get('violation') !== null) parts.push(violation(outcome.get('violation'), 'Violation'));
    for (const one of outcome.get('observed')) parts.push(violation(one, 'Observed, and let pass'));
    if (outcome.get('coercions').length > 0) {
      parts.push(el('h4', {}, 'Read as another type'), el('ul', {}, ...outcome.get('coercions').map((one) =>
        el('li', {}, el('code', {}, dom.visible(one.get('secret') === true
          ? `${one.get('pointer')}: secret`
          : `${one.get('pointer')}: ${json.write(one.get('from'))} as ${json.write(one.get('to'))}`))))));
    }
    parts.push(...outcome.get('artifacts').map(artifact));
    return parts;
  };

  const readable = (text, isJson) => {
    if (isJson) {
      try {
        return json.pretty(json.read(text));
      } catch {
        // Cut at the limit of the registry.
      }
    }
    return dom.visible(text);
  };

  return { show };
})();
