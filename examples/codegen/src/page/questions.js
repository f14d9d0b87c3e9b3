// The questions of an interview as a form.

const interviews = (() => {
  const { el, fill } = dom;

  const control = (question, option, number) => {
    const id = `${question.id}-${number}`;
    return el('label', { for: id }, el('input', { type: question.type, id, name: question.id, value: option }), ' ', dom.visible(option));
  };

  const field = (question) => question.type === 'text'
    ? el('fieldset', {}, el('legend', {}, dom.visible(question.text)),
      el('input', { type: 'text', name: question.id, 'aria-label': question.text, maxlength: '4000' }))
    : el('fieldset', {}, el('legend', {}, dom.visible(question.text)), ...question.options.map((option, number) => control(question, option, number)));

  const given = (form, question) => {
    const all = [...form.querySelectorAll('input')].filter((input) => input.name === question.id);
    const chosen = question.type === 'text' ? all : all.filter((input) => input.checked);
    return { question: question.id, values: chosen.map((input) => input.value) };
  };

  // A form that is sent once; `send` may throw what is wrong with the answers. The button keeps the focus, as in approvals.js.
  const form = (questions, send) => {
    const problem = el('p', { class: 'problem', role: 'alert' });
    const button = el('button', { class: 'run' }, 'Answer');
    let sent = false;
    const node = el('form', { class: 'interview', onsubmit: async (event) => {
      event.preventDefault();
      if (sent) return;
      sent = true;
      fill(problem);
      try {
        await send(questions.map((question) => given(node, question)));
      } catch (error) {
        fill(problem, dom.visible(error.message));
        sent = false;
      }
    } }, ...questions.map(field), el('p', { class: 'buttons' }, button), problem);
    return node;
  };

  return { form };
})();
