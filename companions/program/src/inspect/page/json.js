// JSON without loss: a number is kept as it is written, and an object may have any names.
// TC39, "JSON.parse source text access", 2025; in Chromium since 114, Firefox since 135, Safari since 18.4.

class Num {
  constructor(text) {
    this.text = text;
  }
}

const json = (() => {
  const read = (text) => JSON.parse(text, (_, value, { source }) => {
    if (typeof value === 'number') return new Num(source);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? new Map(Object.entries(value)) : value;
  });

  const write = (value, indent = '') => JSON.stringify(value, (_, one) => {
    if (one instanceof Num) return JSON.rawJSON(one.text);
    return one instanceof Map ? Object.fromEntries(one) : one;
  }, indent);

  // The value as JavaScript has it, for what is known to be small.
  const plain = (value) => JSON.parse(write(value));

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
