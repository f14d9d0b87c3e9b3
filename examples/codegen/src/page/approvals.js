// A call about which a person decides: what was asked, all of the arguments, and two buttons.

const approvals = (() => {
  const { el, fill, button } = dom;

  // A form that is sent once; `send` may throw why the decision does not count. The buttons stay enabled, because a button that
  // is disabled loses the focus.
  const form = (approval, send) => {
    const problem = el('p', { class: 'problem', role: 'alert' });
    const reason = el('input', { type: 'text', id: 'reason', maxlength: '4000' });
    let sent = false;
    const decide = async (approve) => {
      if (sent) return;
      sent = true;
      fill(problem);
      try {
        await send({ id: approval.id, approve, reason: approve ? '' : reason.value });
      } catch (error) {
        fill(problem, dom.visible(error.message));
        sent = false;
      }
    };
    const yes = button('Approve', () => decide(true), { class: 'run' });
    const no = button('Deny', () => decide(false));
    return el('section', { class: 'approval', 'aria-label': 'approval' },
      ...approval.questions.map((text) => el('h3', {}, dom.visible(text))),
      el('p', { class: 'about' }, el('code', {}, dom.visible(approval.tool)), ' with these arguments:'),
      el('pre', { tabindex: '0', 'aria-label': 'arguments' }, dom.visible(logs.pretty(approval.arguments))),
      el('p', {}, el('label', { for: reason.id, class: 'about' }, 'Reason to deny'), reason),
      el('p', { class: 'buttons' }, yes, no), problem);
  };

  return { form };
})();
