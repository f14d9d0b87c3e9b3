// Elements. Text goes in as text: nothing here reads markup, so what a model or a tool says cannot become part of the page.

const dom = (() => {
  const SAFE = new Set(['class', 'id', 'for', 'type', 'href', 'role', 'name', 'value', 'open', 'hidden', 'disabled', 'tabindex',
    'spellcheck', 'maxlength']);

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

  const button = (label, action, attributes = {}) => el('button', { type: 'button', onclick: action, ...attributes }, label);

  // What does not show, or turns the direction of a line, would falsify what people read.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const visible = (text) =>
    String(text).replace(HIDDEN, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);

  // The message of a condition as its author wrote it: `{expression:format}` is shown as code, and `{{` as `{`.
  const message = (template) => template.split(/(\{\{|\}\}|\{[^{}]*\})/).map((part) => {
    if (part === '{{' || part === '}}') return part[0];
    return part.startsWith('{') && part.endsWith('}') ? el('code', {}, visible(part.slice(1, -1).replace(/:[^:]*$/, '') || '…')) : visible(part);
  });

  return { el, fill, button, visible, message };
})();
