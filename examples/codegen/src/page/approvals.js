// A call about which a person decides: what was asked, all of the arguments, and two buttons.

const approvals = (() => {
  const { el, fill, button } = dom;

  // A form that is sent once; `send` may throw why the decision does not count.
  const form = (approval, send) => {
    const problem = el('p', { class: 'problem', role: 'alert' });
    const reason = el('input', { type: 'text', 'aria-label': 'why not', maxlength: '4000' });
    const decide = async (approve) => {
      for (const one of [yes, no]) one.disabled = true;
      fill(problem);
      try {
        await send({ id: approval.id, approve, reason: approve ? '' : reason.value });
      } catch (error) {
        fill(problem, dom.visible(error.message));
        for (const one of [yes, no]) one.disabled = false;
      }
    };
    const yes = button('Approve', () => decide(true), { class: 'run' });
    const no = button('Deny', () => decide(false));
    return el('section', { class: 'approval', 'aria-label': 'approval' },
      ...approval.questions.map((text) => el('h3', {}, dom.visible(text))),
      el('p', { class: 'about' }, el('code', {}, dom.visible(approval.tool)), ' with these arguments:'),
      el('pre', { tabindex: '0', 'aria-label': 'arguments' }, dom.visible(logs.pretty(approval.arguments))),
      el('p', { class: 'buttons' }, yes, no, reason), problem);
  };

  return { form };
})();
