// Portable rules: the Common Expression Language in the profile of contract-runtime, and nothing beyond it.
// google/cel-spec, doc/langdef.md (2026). What is not known here is no answer: `judge` gives `undefined`, never a guess.

class Undecided extends Error {}

const rules = (() => {
  const TOKEN =
    /\s+|(?<number>(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+u?))|(?<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<sign>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]])/y;
  const LEVELS = { '||': 1, '&&': 2, '==': 3, '!=': 3, '<': 3, '<=': 3, '>': 3, '>=': 3, in: 3, '+': 4, '-': 4, '*': 5, '/': 5, '%': 5 };
  const ESCAPED = { n: '\n', r: '\r', t: '\t', '\\': '\\', "'": "'", '"': '"', '`': '`', '?': '?' };

  const unknown = (what) => {
    throw new Undecided(`not checked here: ${what}`);
  };

  const words = (text) => {
    const out = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const found = TOKEN.exec(text);
      if (!found) unknown('a letter that the profile does not have');
      const { number, text: quoted, name, sign } = found.groups;
      if (number !== undefined) out.push({ kind: 'number', text: number });
      else if (quoted !== undefined) out.push({ kind: 'text', text: unquoted(quoted) });
      else if (name !== undefined) out.push({ kind: 'name', text: name });
      else if (sign !== undefined) out.push({ kind: 'sign', text: sign });
    }
    out.push({ kind: 'end', text: '' });
    return out;
  };

  const unquoted = (quoted) =>
    quoted.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gsu, (_, four, eight, letter) => {
      const code = four ?? eight;
      if (code !== undefined) {
        const point = parseInt(code, 16);
        return point <= 0x10ffff ? String.fromCodePoint(point) : unknown('an escape beyond Unicode');
      }
      return Object.hasOwn(ESCAPED, letter) ? ESCAPED[letter] : unknown(`the escape \\${letter}`);
    });

  // Text to a tree of arrays: [operation, ...operands].
  const parse = (text) => {
    const list = words(text);
    let at = 0;
    const is = (sign) => list[at].kind !== 'text' && list[at].text === sign && list[at].kind !== 'end';
    const take = (sign) => is(sign) && ((at += 1), true);
    const need = (sign) => take(sign) || unknown(`\`${sign}\` is missing`);
    const many = (end) => {
      const items = [];
      if (take(end)) return items;
      do items.push(choice());
      while (take(','));
      need(end);
      return items;
    };
    const choice = () => {
      const condition = binary(1);
      if (!take('?')) return condition;
      const yes = binary(1);
      need(':');
      return ['?', condition, yes, choice()];
    };
    const binary = (level) => {
      let left = unary();
      for (;;) {
        const { kind, text: sign } = list[at];
        const own = kind === 'sign' || sign === 'in' ? LEVELS[sign] : undefined;
        if (kind === 'text' || own === undefined || own < level) return left;
        at += 1;
        left = [sign, left, binary(own + 1)];
      }
    };
    const unary = () => {
      if (take('!')) return ['!', unary()];
      if (!take('-')) return member();
      const { kind, text: digits } = list[at];
      if (kind !== 'number') return ['negative', unary()];
      list[at] = { kind, text: `-${digits}` };
      return member();
    };
    const member = () => {
      let of = primary();
      for (;;) {
        if (take('.')) {
          const { kind, text: name } = list[at];
          if (kind !== 'name') unknown('a name is missing after `.`');
          at += 1;
          of = take('(') ? ['call', name, of, ...many(')')] : ['.', of, name];
        } else if (take('[')) {
          of = ['[', of, choice()];
          need(']');
        } else return of;
      }
    };
    const primary = () => {
      const { kind, text: word } = list[at];
      at += 1;
      if (kind === 'number') return ['value', literal(word)];
      if (kind === 'text') return ['value', word];
      if (kind === 'name') {
        if (word === 'true' || word === 'false') return ['value', word === 'true'];
        if (word === 'null') return ['value', null];
        return take('(') ? ['call', word, undefined, ...many(')')] : ['name', word];
      }
      if (word === '(') {
        const inner = choice();
        need(')');
        return inner;
      }
      if (word === '[') return ['list', ...many(']')];
      return unknown(`\`${word}\` stands where a value should be`);
    };
    const whole = choice();
    if (list[at].kind !== 'end') unknown('something follows the rule');
    return whole;
  };

  const literal = (word) => {
    if (/[.eE]/.test(word)) return Number(word);
    if (word.endsWith('u')) return unknown('an unsigned number');
    return values.whole(BigInt(word));
  };

  const truth = (value) => (typeof value === 'boolean' ? value : unknown('no truth value where one is needed'));

  // `&&` and `||` give an answer if either side alone decides, though the other is an error.
  const either = (decisive, left, right) => {
    let error;
    for (const side of [left, right]) {
      try {
        if (truth(side()) === decisive) return decisive;
      } catch (problem) {
        if (!(problem instanceof Undecided)) throw problem;
        error = problem;
      }
    }
    if (error) throw error;
    return !decisive;
  };

  const each = (of, name, body, scope, wanted) => {
    const items = of instanceof Map ? [...of.keys()] : of;
    if (!Array.isArray(items)) unknown('a comprehension over what is no list');
    let error;
    for (const item of items) {
      try {
        if (truth(run(body, new Map(scope).set(name, item))) === wanted) return wanted;
      } catch (problem) {
        if (!(problem instanceof Undecided)) throw problem;
        error = problem;
      }
    }
    if (error) throw error;
    return !wanted;
  };

  const call = (name, on, given, scope) => {
    if (on === undefined && name === 'has' && given.length === 1) {
      const [operation, of, member] = given[0];
      if (operation !== '.') unknown('`has` of what is no member');
      const object = run(of, scope);
      return object instanceof Map ? object.has(member) : unknown('`has` of what is no object');
    }
    if (on !== undefined && (name === 'all' || name === 'exists') && given.length === 2) {
      if (given[0][0] !== 'name') unknown('a comprehension without a variable');
      return each(run(on, scope), given[0][1], given[1], scope, name === 'exists');
    }
    const operands = (on === undefined ? given : [on, ...given]).map((one) => run(one, scope));
    const table = on === undefined ? values.functions : values.methods;
    if (!Object.hasOwn(table, name) || table[name].length !== operands.length) unknown(`\`${name}\``);
    return table[name](...operands);
  };

  const run = (tree, scope) => {
    const [operation, first, second, third] = tree;
    switch (operation) {
      case 'value':
        return first;
      case 'name':
        if (scope.has(first)) return scope.get(first);
        return first === 'null_type' ? values.NULL_TYPE : unknown(`\`${first}\``);
      case 'list':
        return tree.slice(1).map((item) => run(item, scope));
      case '?':
        return run(truth(run(first, scope)) ? second : third, scope);
      case '!':
        return !truth(run(first, scope));
      case 'negative':
        return values.negative(run(first, scope));
      case '&&':
        return either(false, () => run(first, scope), () => run(second, scope));
      case '||':
        return either(true, () => run(first, scope), () => run(second, scope));
      case 'call':
        return call(first, second, tree.slice(3), scope);
      case '.':
        return values.member(run(first, scope), second);
      case '[':
        return values.member(run(first, scope), run(second, scope));
      default:
        return values.operate(operation, run(first, scope), run(second, scope));
    }
  };

  const parsed = new Map();

  // `true`, `false`, or `undefined` where nothing is decided; the arguments are a Map, as `json.read` gives it.
  const judge = (rule, args) => {
    try {
      if (!parsed.has(rule)) parsed.set(rule, parse(rule));
      const answer = run(parsed.get(rule), new Map([['args', args]]));
      return typeof answer === 'boolean' ? answer : undefined;
    } catch (problem) {
      if (problem instanceof Undecided || problem instanceof RangeError) return undefined;
      throw problem;
    }
  };

  return { judge };
})();
