// The values of portable rules. A whole number is a BigInt of 64 bits, a `double` is a Number, and a number of the
// arguments is what it is written as (see `json`) until `int` or `double` has converted it: the profile compares no other.

const values = (() => {
  const NULL_TYPE = Symbol('null_type');
  const OTHER_TYPE = Symbol('another type');

  const unknown = (what) => {
    throw new Undecided(`not checked here: ${what}`);
  };

  const whole = (number) => (BigInt.asIntN(64, number) === number ? number : unknown('a number beyond 64 bits'));

  // A number of the arguments, as a reader with whole numbers of 64 bits has it.
  const read = (number) => {
    if (/^-?\d+$/.test(number.text)) {
      const exact = BigInt(number.text);
      if (number.text !== '-0' && exact >= -(2n ** 63n) && exact < 2n ** 64n) return exact;
    }
    const double = Number(number.text);
    return Number.isFinite(double) ? double : unknown('a number beyond all that a `double` holds');
  };

  const int = (value) => {
    const number = value instanceof Num ? read(value) : value;
    if (typeof number === 'bigint') return whole(number);
    if (typeof number !== 'number' || !Number.isFinite(number)) return unknown('`int` of what is no number');
    // 2^63 itself is beyond, and the next `double` below is not.
    return Math.abs(number) < 2 ** 63 ? BigInt(Math.trunc(number)) : unknown('a number beyond 64 bits');
  };

  const double = (value) => {
    const number = value instanceof Num ? read(value) : value;
    if (typeof number === 'bigint' || typeof number === 'number') return Number(number);
    return unknown('`double` of what is no number');
  };

  const text = (value) => (typeof value === 'string' ? value : unknown('no text where one is needed'));

  // Without lone surrogates every text has its code points and its bytes.
  const LONE = /\p{Surrogate}/u;
  const letters = (value) => (LONE.test(text(value)) ? unknown('a text that is not Unicode') : value);

  class Bytes {
    constructor(length) {
      this.length = length;
    }
  }

  const size = (value) => {
    if (typeof value === 'string') return BigInt([...letters(value)].length);
    if (value instanceof Bytes || Array.isArray(value)) return BigInt(value.length);
    return value instanceof Map ? BigInt(value.size) : unknown('`size` of what has none');
  };

  const member = (of, name) => {
    if (of instanceof Map && typeof name === 'string') return of.has(name) ? of.get(name) : unknown('nothing there');
    return unknown('a member of what is no object');
  };

  const kind = (value) => (typeof value === 'symbol' ? 'type' : typeof value);

  const same = (a, b) => {
    if (kind(a) !== kind(b) || !['type', 'bigint', 'number', 'string', 'boolean'].includes(kind(a))) {
      return unknown('a comparison of what the profile does not compare');
    }
    return a === b;
  };

  const family = (value) => {
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'list';
    if (value instanceof Map) return 'map';
    return { string: 'text', boolean: 'truth', bigint: 'number', number: 'number' }[typeof value];
  };

  const among = (item, of) => {
    if (of instanceof Map) return of.has(text(item));
    if (!Array.isArray(of)) return unknown('`in` what is no list');
    let problem;
    for (const one of of) {
      try {
        if (same(item, one)) return true;
      } catch (found) {
        // An item of another kind is another item, where both kinds are known; a number may equal one of the other kind.
        const [own, other] = [item, one].map(family);
        if (own === undefined || other === undefined || own === other) problem = found;
      }
    }
    if (problem) throw problem;
    return false;
  };

  const compute = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '%': (a, b) => (typeof a !== 'bigint' ? unknown('the remainder of a `double`') : b === 0n ? unknown('a division by zero') : a % b),
  };
  const compare = {
    '<': (a, b) => a < b,
    '<=': (a, b) => a <= b,
    '>': (a, b) => a > b,
    '>=': (a, b) => a >= b,
  };

  const numbers = (a, b) => {
    const both = typeof a === typeof b && (typeof a === 'bigint' || typeof a === 'number');
    return both || unknown('numbers of two kinds, or none');
  };

  const operate = (operation, a, b) => {
    if (operation === '==') return same(a, b);
    if (operation === '!=') return !same(a, b);
    if (operation === 'in') return among(a, b);
    if (Object.hasOwn(compute, operation)) {
      numbers(a, b);
      const result = compute[operation](a, b);
      return typeof result === 'bigint' ? whole(result) : result;
    }
    if (!Object.hasOwn(compare, operation)) return unknown(`\`${operation}\``);
    numbers(a, b);
    // Engines differ on the order of what is no number.
    if (Number.isNaN(a) || Number.isNaN(b)) return unknown('the order of what is no number');
    return compare[operation](a, b);
  };

  const negative = (value) => {
    if (typeof value === 'bigint') return whole(-value);
    return typeof value === 'number' ? -value : unknown('the opposite of what is no number');
  };

  // Engines differ on classes with a letter, on any other letter than the line's end, on flags, and on classes in a class.
  const isAgreed = (pattern) => {
    const rest = pattern.replace(/\\[nrtfv]|\\[^A-Za-z0-9<>]/g, '_');
    const outside = rest.replace(/\[[^\]]*\]/g, '_');
    return !/\\|&&|--|~~|\[[^\]]*\[/.test(rest) && !/\.|\(\?(?!:)/.test(outside);
  };

  const patterns = new Map();
  const matches = (of, pattern) => {
    if (!patterns.has(pattern)) {
      if (!isAgreed(text(pattern))) return unknown('a pattern that engines read in two ways');
      try {
        patterns.set(pattern, new RegExp(text(pattern), 'u'));
      } catch {
        return unknown('a pattern that this browser cannot read');
      }
    }
    return patterns.get(pattern).test(letters(of));
  };

  const functions = {
    int: (value) => int(value),
    double: (value) => double(value),
    size: (value) => size(value),
    bytes: (value) => new Bytes(new TextEncoder().encode(letters(value)).length),
    type: (value) => (value === null ? NULL_TYPE : OTHER_TYPE),
  };
  const methods = {
    startsWith: (of, affix) => letters(of).startsWith(letters(affix)),
    endsWith: (of, affix) => letters(of).endsWith(letters(affix)),
    contains: (of, part) => letters(of).includes(letters(part)),
    matches: (of, pattern) => matches(of, pattern),
  };

  return { NULL_TYPE, whole, member, operate, negative, functions, methods };
})();
