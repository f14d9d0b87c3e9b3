// What a JSON Schema asks of a form: which kind of editor, with which words beside it.

const schemas = (() => {
  const ANY = new Map();

  const target = (reference, root) => {
    if (reference === '#') return root;
    if (!reference.startsWith('#/')) return undefined;
    let at = root;
    for (const part of reference.slice(2).split('/')) {
      const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      at = at instanceof Map ? at.get(name) : undefined;
    }
    return at;
  };

  // The schema with its reference followed and its `allOf` laid over it, as far as that is plain.
  const resolved = (schema, root, depth = 0) => {
    if (schema === false) return new Map([['not', ANY]]);
    if (!(schema instanceof Map) || depth > 20) return ANY;
    const parts = [];
    if (typeof schema.get('$ref') === 'string') parts.push(target(schema.get('$ref'), root));
    parts.push(...(Array.isArray(schema.get('allOf')) ? schema.get('allOf') : []));
    if (parts.length === 0) return schema;
    const out = new Map();
    const own = new Map([...schema].filter(([name]) => name !== '$ref' && name !== 'allOf'));
    for (const part of [...parts.map((one) => resolved(one, root, depth + 1)), own]) {
      for (const [name, value] of part) out.set(name, joined(name, out.get(name), value));
    }
    return out;
  };

  const joined = (name, before, after) => {
    if (before === undefined) return after;
    if (name === 'properties') return new Map([...before, ...after]);
    if (name === 'required') return [...new Set([...before, ...after])];
    if (name === 'additionalProperties' && before === false) return before;
    return after;
  };

  const types = (schema) => {
    const type = schema.get('type');
    return type === undefined ? [] : [].concat(type);
  };

  const isNull = (schema) =>
    (types(schema).length === 1 && types(schema)[0] === 'null') || (schema.has('const') && schema.get('const') === null);

  const listed = (schema) => {
    if (schema.has('const')) return [schema.get('const')];
    return Array.isArray(schema.get('enum')) ? schema.get('enum') : undefined;
  };

  // `{kind, nullable, schema, ...}`: the schema is that of what is not null.
  const read = (given, root) => {
    const schema = resolved(given, root);
    const several = schema.get('anyOf') ?? schema.get('oneOf');
    if (Array.isArray(several)) return choice(schema, several, root);
    const values = listed(schema);
    const nullable = types(schema).includes('null') || Boolean(values?.includes(null));
    if (values) {
      const kept = values.filter((value) => value !== null);
      return { kind: 'listed', nullable, schema, values: kept.map((value) => ({ value, label: shown(value) })) };
    }
    const [kind = schema.has('properties') ? 'object' : 'any', ...more] = types(schema).filter((type) => type !== 'null');
    if (more.length > 0) return { kind: 'any', nullable, schema };
    if (types(schema).length > 0 && isNull(schema)) return { kind: 'listed', nullable: true, schema, values: [] };
    if (kind === 'boolean') {
      const both = [true, false].map((value) => ({ value, label: String(value) }));
      return { kind: 'listed', nullable, schema, values: both };
    }
    return { kind, nullable, schema };
  };

  const choice = (schema, several, root) => {
    const parts = several.map((part) => resolved(part, root));
    const nullable = parts.some((part) => isNull(part) || types(part).includes('null'));
    const rest = parts.filter((part) => !isNull(part));
    const outer = new Map([...schema].filter(([name]) => name !== 'anyOf' && name !== 'oneOf'));
    if (rest.length === 1) {
      const only = read(new Map([...rest[0], ...outer]), root);
      return { ...only, nullable: nullable || only.nullable };
    }
    if (rest.length > 0 && rest.every((part) => listed(part))) {
      const values = rest.flatMap((part) =>
        listed(part).map((value) => ({ value, label: shown(value), about: part.get('description') })));
      return { kind: 'listed', nullable, schema, values: values.filter(({ value }) => value !== null) };
    }
    // Conditions may stand beside the alternatives; the fields they share go into each.
    const shared = ['properties', 'required', 'type', 'additionalProperties'].filter((name) => outer.has(name));
    const options = rest.map((part) => {
      const all = new Map(part);
      for (const name of shared) all.set(name, joined(name, outer.get(name), part.get(name) ?? outer.get(name)));
      return { schema: all, label: label(part, root) };
    });
    return { kind: 'choice', nullable, schema, options };
  };

  // What distinguishes one alternative for people: its title, its tag, its only key, its type.
  const label = (schema, root) => {
    if (typeof schema.get('title') === 'string') return schema.get('title');
    const properties = schema.get('properties');
    const required = schema.get('required') ?? [];
    if (properties instanceof Map) {
      for (const [name, part] of properties) {
        const values = listed(resolved(part, root));
        if (values?.length === 1) return `${name}: ${shown(values[0])}`;
      }
      if (required.length > 0) return required.join(', ');
    }
    const values = listed(schema);
    if (values) return values.map(shown).join(' or ');
    const first = (schema.get('description') ?? '').split('\n')[0];
    return first.slice(0, 60) || types(schema).join(' or ') || 'anything';
  };

  const shown = (value) => (typeof value === 'string' ? value : json.write(value));

  // Whether a value may be meant for a schema: its type, its fixed values and its required keys.
  const fits = (value, given, root, depth = 0) => {
    const schema = resolved(given, root);
    const values = listed(schema);
    if (values) return values.some((one) => json.same(one, value));
    const several = schema.get('anyOf') ?? schema.get('oneOf');
    if (Array.isArray(several) && depth < 8 && !several.some((part) => fits(value, part, root, depth + 1))) return false;
    const own = types(schema);
    if (own.length > 0 && !own.some((type) => is(value, type))) return false;
    if (!(value instanceof Map) || depth >= 8) return true;
    const properties = schema.get('properties') ?? ANY;
    if (!(schema.get('required') ?? []).every((name) => value.has(name))) return false;
    if (schema.get('additionalProperties') === false && [...value.keys()].some((name) => !properties.has(name))) return false;
    return [...properties].every(([name, part]) => !value.has(name) || fits(value.get(name), part, root, depth + 1));
  };

  const is = (value, type) => {
    switch (type) {
      case 'null':
        return value === null;
      case 'boolean':
      case 'string':
        return typeof value === type;
      case 'number':
      case 'integer':
        return value instanceof Num;
      case 'array':
        return Array.isArray(value);
      default:
        return value instanceof Map;
    }
  };

  // The bounds of a schema in words.
  const says = ({ kind, schema, nullable }) => {
    const words = [];
    const get = (name) => (schema.has(name) ? shown(schema.get(name)) : undefined);
    const range = (low, high, unit) => {
      if (low !== undefined && high !== undefined) words.push(low === high ? `${low}${unit}` : `${low} to ${high}${unit}`);
      else if (low !== undefined) words.push(`at least ${low}${unit}`);
      else if (high !== undefined) words.push(`at most ${high}${unit}`);
    };
    const names = { string: 'text', integer: 'whole number', number: 'number', array: 'list', object: 'object', any: 'any JSON' };
    if (names[kind]) words.push(names[kind]);
    range(get('minimum'), get('maximum'), '');
    if (schema.has('exclusiveMinimum')) words.push(`above ${get('exclusiveMinimum')}`);
    if (schema.has('exclusiveMaximum')) words.push(`below ${get('exclusiveMaximum')}`);
    if (schema.has('multipleOf')) words.push(`a multiple of ${get('multipleOf')}`);
    range(get('minLength'), get('maxLength'), ' characters');
    range(get('minItems'), get('maxItems'), ' items');
    if (schema.has('pattern')) words.push(`like ${get('pattern')}`);
    if (schema.has('format')) words.push(get('format'));
    if (nullable) words.push('or null');
    if (schema.has('default')) words.push(`default ${json.write(schema.get('default'))}`);
    return words.join(', ');
  };

  return { read, fits, says, resolved };
})();
