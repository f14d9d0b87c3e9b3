// Elements. Text goes in as text: nothing here reads markup, so a name or a result cannot become part of the page.

const dom = (() => {
  let used = 0;

  const SAFE = new Set(['class', 'id', 'for', 'type', 'href', 'role', 'rows', 'name', 'value', 'title', 'open', 'alt', 'src',
    'download', 'hidden', 'disabled', 'checked', 'selected', 'spellcheck', 'inputmode', 'autocomplete', 'placeholder', 'tabindex']);

  // el('p', {class: 'x', onclick: f}, 'text', element, ...)
  const el = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined || value === false) continue;
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (SAFE.has(name) || name.startsWith('aria-') || name.startsWith('data-')) {
        element.setAttribute(name, value === true ? '' : value);
      } else throw new Error(`attribute ${name}`);
    }
    element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
    return element;
  };

  const fill = (element, ...children) => {
    element.replaceChildren(...children.filter((child) => child !== undefined && child !== null && child !== false));
    return element;
  };

  const id = () => `f${(used += 1)}`;

  const button = (label, action, attributes = {}) =>
    el('button', { type: 'button', onclick: action, ...attributes }, label);

  const option = (value, label) => el('option', { value }, label);

  // What does not show, or turns the direction of a line, would falsify what people read.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const visible = (text) =>
    text.replace(HIDDEN, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);

  // The message of a condition as its author wrote it: `{expression:format}` is shown as code, and `{{` as `{`.
  const message = (template) => template.split(/(\{\{|\}\}|\{[^{}]*\})/).map((part) => {
    if (part === '{{' || part === '}}') return part[0];
    return part.startsWith('{') && part.endsWith('}') ? el('code', {}, visible(part.slice(1, -1).replace(/:[^:]*$/, '') || '…')) : visible(part);
  });

  // Says of a control that what it holds is wrong, and where the reason is.
  const invalid = (control, problem) => {
    control?.setAttribute('aria-invalid', String(problem.textContent !== ''));
    control?.setAttribute('aria-describedby', problem.id);
  };

  return { el, fill, id, button, option, visible, message, invalid };
})();
