//! Values of each type that lie near what a predicate speaks of, and a few that lie elsewhere.

use serde_json::{Map, Value, json};

use super::tools::Clause;

/// A sequence of numbers that is the same in every run (xorshift64*; Vigna, "An experimental exploration of Marsaglia's
/// xorshift generators, scrambled", 2016).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % end
    }

    fn pick<'v>(&mut self, values: &'v [Value]) -> &'v Value {
        &values[self.below(values.len())]
    }
}

/// The values of each parameter; `None` where it is left out.
pub(super) struct Values {
    parameters: Vec<(String, Vec<Option<Value>>)>,
}

impl Values {
    pub(super) fn of(clause: &Clause, schema: &Value, chance: &mut Chance) -> Self {
        let near = Near::new(clause.predicate);
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), clause.parameters.len());
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let parameters = properties
            .keys()
            .zip(clause.parameters)
            .map(|(name, (_, of))| {
                let mut values: Vec<_> = near.values(of, chance).into_iter().map(Some).collect();
                if !required.contains(&json!(name)) {
                    let often = values.len() / 6 + 1;
                    values.extend(std::iter::repeat_n(None, often));
                    values.extend(std::iter::repeat_n(Some(Value::Null), often));
                }
                (name.clone(), values)
            })
            .collect();
        Self { parameters }
    }

    pub(super) fn arguments(&self, chance: &mut Chance) -> Map<String, Value> {
        let given = |(name, values): &(String, Vec<Option<Value>>)| {
            let value = values[chance.below(values.len())].clone()?;
            Some((name.clone(), value))
        };
        self.parameters.iter().filter_map(given).collect()
    }
}

/// What a predicate speaks of.
struct Near {
    integers: Vec<i128>,
    floats: Vec<f64>,
    texts: Vec<String>,
}

impl Near {
    fn new(predicate: &str) -> Self {
        let plain = predicate.replace('_', "");
        let numbers = plain.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let mut near = Self {
            integers: vec![0, 7, 12, 24],
            floats: vec![0.0, 0.1, 2.5, -1.5],
            texts: [
                "a", "admin", "ab", "a.rs", "é", "😀", "a'b\\", "ab1-", "a b", "A", "x\ny",
            ]
            .map(str::to_owned)
            .to_vec(),
        };
        for number in numbers {
            near.integers.extend(number.parse::<i128>());
            near.floats.extend(number.parse::<f64>());
        }
        near.texts
            .extend(predicate.split('"').skip(1).step_by(2).map(str::to_owned));
        near
    }

    fn values(&self, of: &str, chance: &mut Chance) -> Vec<Value> {
        let of = of.replace(' ', "");
        if let Some(inner) = inside(&of, "Option<")
            .or_else(|| of.strip_prefix('&').filter(|of| of.starts_with("Option")))
        {
            let mut values = self.values(inner, chance);
            let often = values.len() / 6 + 1;
            values.extend(std::iter::repeat_n(Value::Null, often));
            return values;
        }
        if let Some(inner) = inside(&of, "Vec<").or_else(|| inside(&of, "&[")) {
            return self.lists(inner, chance);
        }
        match of.as_str() {
            "bool" => vec![json!(true), json!(false)],
            "f32" | "f64" => self.floats(),
            "char" => ["a", "b", "x", "é", "😀"].map(Value::from).to_vec(),
            "String" | "&str" => self.texts(),
            "Mode" => ["very-fast", "slow", "off", "Off"]
                .map(Value::from)
                .to_vec(),
            "Level" => vec![json!(1), json!(2), json!(3), json!(2.0), json!(4)],
            integer => self.integers(integer),
        }
    }

    fn lists(&self, of: &str, chance: &mut Chance) -> Vec<Value> {
        let items = self.values(of, chance);
        (0..150)
            .map(|_| {
                let length = chance.below(5);
                (0..length).map(|_| chance.pick(&items).clone()).collect()
            })
            .collect()
    }

    fn integers(&self, of: &str) -> Vec<Value> {
        let (low, high) = match of {
            "u8" => (0, 255),
            "i8" => (-128, 127),
            "i16" => (-32_768, 32_767),
            "u32" => (0, u32::MAX.into()),
            "i32" => (i32::MIN.into(), i32::MAX.into()),
            "i64" => (i64::MIN.into(), i64::MAX.into()),
            "u64" | "usize" => (0, u64::MAX.into()),
            other => panic!("no values of `{other}`"),
        };
        let exact = 1_i128 << 53;
        let small = (-9..=9).chain([-90, 90, 100, 124, 125, 126, 200, 201, 249, 250]);
        let near = self
            .integers
            .iter()
            .flat_map(|at| [-at, at - 2, at - 1, *at, at + 1, at + 2]);
        let far = [
            low,
            low + 1,
            high - 1,
            high,
            exact - 2,
            exact - 1,
            exact,
            exact + 1,
            -exact,
            -exact - 1,
        ];
        // The far ones are few, so that most cases are decided.
        let usual = std::iter::repeat_n(small.chain(near), 4).flatten();
        let values = usual.chain(far);
        let mut values: Vec<Value> = values
            .filter(|value| (low..=high).contains(value))
            .map(|value| serde_json::from_str(&value.to_string()).unwrap())
            .collect();
        values.extend([json!(5.0), json!(3.5)]);
        values
    }

    fn floats(&self) -> Vec<Value> {
        let near = self.floats.iter().flat_map(|at| {
            let single = |at: f32| f64::from(at);
            #[allow(clippy::cast_possible_truncation, reason = "it is what is wanted")]
            let rounded = *at as f32;
            [
                *at,
                -at,
                at.next_up(),
                at.next_down(),
                single(rounded),
                single(rounded.next_up()),
                single(rounded.next_down()),
                single(rounded).midpoint(single(rounded.next_up())),
                single(rounded).midpoint(single(rounded.next_down())),
                at + 1.0,
            ]
        });
        let far = [
            1e300, -1e300, 1e250, -1e250, 1e200, -1e200, 1.7e308, 1e-300, -0.0, 1e10,
        ];
        let whole = [json!(1), json!(-3), json!(100)];
        near.chain(far).map(Value::from).chain(whole).collect()
    }

    fn texts(&self) -> Vec<Value> {
        let mut texts = vec![String::new()];
        for text in &self.texts {
            texts.extend([
                text.clone(),
                format!("{text}x"),
                format!("x{text}"),
                format!("{text}\n"),
            ]);
            texts.push(text.chars().skip(1).collect());
        }
        for length in 1..7 {
            texts.extend(["a", "é", "😀", "aé"].map(|text| text.repeat(length)));
        }
        texts.into_iter().map(Value::from).collect()
    }
}

fn inside<'t>(of: &'t str, container: &str) -> Option<&'t str> {
    let rest = of.strip_prefix(container)?;
    rest.strip_suffix(['>', ']'])
}
