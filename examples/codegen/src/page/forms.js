// The forms of a run that waits: the questions of an interview, and a call about which a person decides.

const forms = (() => {
  const { el, fill, button } = dom;

  // A form is sent once; `send` may throw why it does not count. The buttons stay enabled, because one that is disabled loses
  // the focus.
  const sender = (send) => {
    const problem = el('p', { class: 'problem', role: 'alert' });
    let sent = false;
    const submit = async (value) => {
      if (sent) return;
      sent = true;
      fill(problem);
      try {
        await send(value);
      } catch (error) {
        fill(problem, dom.visible(error.message));
        sent = false;
      }
    };
    return { problem, submit };
  };

  const field = ({ id, text, type, options }) => el('fieldset', {}, el('legend', {}, dom.visible(text)),
    type === 'text' && el('input', { type, name: id, 'aria-label': text, maxlength: '4000' }),
    ...options.map((option) => el('label', {}, el('input', { type, name: id, value: option }), ' ', dom.visible(option))));

  const interview = (questions, send) => {
    const { problem, submit } = sender(send);
    const answers = (form) => questions.map(({ id, type }) => {
      const all = [...form.elements].filter((input) => input.name === id && (type === 'text' || input.checked));
      return { question: id, values: all.map((input) => input.value) };
    });
    const onsubmit = (event) => {
      event.preventDefault();
      submit(answers(event.target));
    };
    return el('form', { class: 'interview', onsubmit }, ...questions.map(field),
      el('p', { class: 'buttons' }, el('button', { class: 'run' }, 'Answer')), problem);
  };

  const approval = ({ id, tool, questions, arguments: given }, send) => {
    const { problem, submit } = sender(send);
    const reason = el('input', { type: 'text', id: 'reason', maxlength: '4000' });
    return el('section', { class: 'approval', 'aria-label': 'approval' },
      ...questions.map((text) => el('h3', {}, dom.visible(text))),
      el('p', { class: 'about' }, el('code', {}, dom.visible(tool)), ' with these arguments:'),
      el('pre', { tabindex: '0', 'aria-label': 'arguments' }, dom.visible(logs.pretty(given))),
      el('p', {}, el('label', { for: reason.id, class: 'about' }, 'Reason to deny'), reason),
      el('p', { class: 'buttons' },
        button('Approve', () => submit({ id, approve: true, reason: '' }), { class: 'run' }),
        button('Deny', () => submit({ id, approve: false, reason: reason.value }))), problem);
  };

  return { interview, approval };
})();
