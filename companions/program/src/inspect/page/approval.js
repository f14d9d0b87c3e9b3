// What a call asks a person: the questions, the arguments that they are about, and an answer.

const approvals = (() => {
  const { el, button } = dom;

  // The answer is given once, as `Answer` is written in JSON.
  const form = (request, given) => {
    const reason = el('input', { id: dom.id(), type: 'text', autocomplete: 'off' });
    const answer = (decision) => {
      given({ request: request.get('id'), decision });
    };
    const buttons = [
      button('Approve', () => answer({ approved: 'once' }), { class: 'run' }),
      button('Deny', () => answer({ denied: reason.value.trim() || 'the user said no' })),
    ];
    return el('section', { class: 'approval', 'aria-label': 'approval' },
      el('h4', {}, 'It asks before it runs'),
      ...request.get('questions').map((one) => el('p', { class: 'question' }, dom.visible(one.get('text')))),
      el('pre', { class: 'text' }, dom.visible(json.pretty(request.get('arguments')))),
      el('p', {}, el('label', { for: reason.id, class: 'about' }, 'Reason to deny'), ' ', reason),
      el('p', { class: 'buttons' }, ...buttons));
  };

  return { form };
})();
