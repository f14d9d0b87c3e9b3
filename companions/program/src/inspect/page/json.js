// JSON without loss: a number is kept as it is written, an object keeps the order of its members and any name at all.
// RFC 8259, "The JavaScript Object Notation (JSON) Data Interchange Format", 2017.

class Num {
  constructor(text) {
    this.text = text;
  }
}

class JsonError extends Error {
  constructor(message, at) {
    super(`${message}, at character ${at + 1}`);
    this.at = at;
  }
}

const json = (() => {
  const DEEPEST = 120;
  const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
  const PLAIN = /[^"\\\u0000-\u001f]*/y;
  const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

  const read = (text) => {
    let at = 0;
    const fail = (message) => {
      throw new JsonError(message, at);
    };
    const space = () => {
      while (' \t\n\r'.includes(text[at]) && at < text.length) at += 1;
    };
    const string = () => {
      at += 1;
      let out = '';
      for (;;) {
        PLAIN.lastIndex = at;
        out += PLAIN.exec(text)[0];
        at = PLAIN.lastIndex;
        if (at >= text.length) fail('the text ends inside a string');
        if (text[at] === '"') break;
        if (text[at] !== '\\') fail('a control character inside a string; write it as an escape');
        const escape = text[at + 1];
        if (escape === 'u') {
          const code = text.slice(at + 2, at + 6);
          if (!/^[0-9a-fA-F]{4}$/.test(code)) fail('`\\u` needs four hexadecimal digits');
          out += String.fromCharCode(parseInt(code, 16));
          at += 6;
        } else if (Object.hasOwn(ESCAPES, escape ?? '')) {
          out += ESCAPES[escape];
          at += 2;
        } else fail('an unknown escape');
      }
      at += 1;
      return out;
    };
    const word = (name, value) => {
      if (!text.startsWith(name, at)) fail('expected a value');
      at += name.length;
      return value;
    };
    const list = (depth) => {
      const items = [];
      at += 1;
      space();
      if (text[at] === ']') return ((at += 1), items);
      for (;;) {
        items.push(value(depth));
        space();
        if (text[at] === ']') return ((at += 1), items);
        if (text[at] !== ',') fail('expected `,` or `]`');
        at += 1;
      }
    };
    const object = (depth) => {
      const members = new Map();
      at += 1;
      space();
      if (text[at] === '}') return ((at += 1), members);
      for (;;) {
        space();
        if (text[at] !== '"') fail('expected a name in double quotes');
        const name = string();
        if (members.has(name)) fail(`"${name}" is given twice`);
        space();
        if (text[at] !== ':') fail('expected `:`');
        at += 1;
        members.set(name, value(depth));
        space();
        if (text[at] === '}') return ((at += 1), members);
        if (text[at] !== ',') fail('expected `,` or `}`');
        at += 1;
      }
    };
    const value = (depth) => {
      if (depth > DEEPEST) fail('nested too deeply');
      space();
      switch (text[at]) {
        case '{':
          return object(depth + 1);
        case '[':
          return list(depth + 1);
        case '"':
          return string();
        case 't':
          return word('true', true);
        case 'f':
          return word('false', false);
        case 'n':
          return word('null', null);
        default: {
          NUMBER.lastIndex = at;
          const found = NUMBER.exec(text);
          if (!found) fail(at >= text.length ? 'the text ends where a value should be' : 'expected a value');
          at = NUMBER.lastIndex;
          return new Num(found[0]);
        }
      }
    };
    const whole = value(0);
    space();
    if (at < text.length) fail('expected nothing more');
    return whole;
  };

  const write = (value, indent = '', inner = '') => {
    const between = indent ? `\n${inner}${indent}` : '';
    const after = indent ? `\n${inner}` : '';
    const deeper = inner + indent;
    if (value instanceof Num) return value.text;
    if (Array.isArray(value)) {
      if (value.length === 0) return '[]';
      return `[${between}${value.map((item) => write(item, indent, deeper)).join(`,${between}`)}${after}]`;
    }
    if (value instanceof Map) {
      if (value.size === 0) return '{}';
      const colon = indent ? ': ' : ':';
      const member = ([name, item]) => JSON.stringify(name) + colon + write(item, indent, deeper);
      return `{${between}${[...value].map(member).join(`,${between}`)}${after}}`;
    }
    return JSON.stringify(value);
  };

  // The value as JavaScript has it, for what is known to be small; an object without a prototype.
  const plain = (value) => {
    if (value instanceof Num) return Number(value.text);
    if (Array.isArray(value)) return value.map(plain);
    if (!(value instanceof Map)) return value;
    const out = Object.create(null);
    for (const [name, item] of value) out[name] = plain(item);
    return out;
  };

  const same = (a, b) => {
    if (a instanceof Num && b instanceof Num) return a.text === b.text || exact(a.text) === exact(b.text);
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
    if (a instanceof Map && b instanceof Map) {
      return a.size === b.size && [...a].every(([name, item]) => b.has(name) && same(item, b.get(name)));
    }
    return a === b;
  };

  // A number in one spelling: digits without zeros at the ends, and the power of ten of the last one.
  const exact = (text) => {
    const [, sign, whole, part = '', power = '0'] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
    const digits = (whole + part).replace(/^0+/, '');
    const short = digits.replace(/0+$/, '');
    if (short === '') return '0';
    return `${sign}${short}e${BigInt(power) - BigInt(part.length) + BigInt(digits.length - short.length)}`;
  };

  return { read, write, pretty: (value) => write(value, '  '), plain, same };
})();
