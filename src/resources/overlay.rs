//! JSON laid over a JSON of defaults: what the defaults don't have is an error, with its line.
//!
//! The defaults are the schema. Objects merge at every depth, everything else is replaced whole; a value must be of
//! its default's kind, a number a whole one from 1, and `null` stands for a text that may be absent.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Map, Value};

/// The text can't be laid over the defaults.
#[derive(Debug)]
pub(super) struct OverlayError {
    /// The line, from 1.
    pub(super) line: usize,
    /// The last key read, its parents before it; empty at the top.
    pub(super) key: String,
    /// What is wrong.
    pub(super) message: String,
}

/// Lays `text` over `defaults`.
pub(super) fn overlay(defaults: &Value, text: &str) -> Result<Value, OverlayError> {
    let key = RefCell::new(Vec::new());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let merged = Over { default: defaults, key: &key }
        .deserialize(&mut deserializer)
        .and_then(|merged| deserializer.end().map(|()| merged));
    merged.map_err(|error| {
        let message = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        OverlayError {
            line: error.line(),
            key: key.borrow().join("."),
            message: message.strip_suffix(&position).unwrap_or(&message).to_owned(),
        }
    })
}

/// One value and the default it replaces.
#[derive(Clone, Copy)]
struct Over<'a> {
    default: &'a Value,
    /// Where we are; after an error, where it happened.
    key: &'a RefCell<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Over<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Over<'_> {
    fn put<E: Error>(self, fits: bool, value: Value, found: Unexpected<'_>) -> Result<Value, E> {
        if fits { Ok(value) } else { Err(E::invalid_type(found, &self)) }
    }
}

impl<'de> Visitor<'de> for Over<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.default {
            Value::Null => "a text or null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a whole number from 1",
            Value::String(_) => "a text",
            Value::Array(_) => "a list of texts",
            Value::Object(_) => "an object",
        })
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.put(self.default.is_null(), Value::Null, Unexpected::Other("null"))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.put(self.default.is_boolean(), value.into(), Unexpected::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.put(self.default.is_number() && value > 0, value.into(), Unexpected::Unsigned(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.put(self.default.is_string() || self.default.is_null(), value.into(), Unexpected::Str(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        if !self.default.is_array() {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut texts = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            texts.push(text);
        }
        Ok(texts.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Value::Object(defaults) = self.default else {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        };
        let mut given = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            self.key.borrow_mut().push(key.clone());
            let Some(default) = defaults.get(&key) else {
                let known: Vec<&str> = defaults.keys().map(String::as_str).collect();
                return Err(A::Error::custom(format!("there is no such setting; there are {}", known.join(", "))));
            };
            if given.contains_key(&key) {
                return Err(A::Error::custom("it is set twice"));
            }
            let value = map.next_value_seed(Over { default, key: self.key })?;
            self.key.borrow_mut().pop();
            given.insert(key, value);
        }
        let mut merged = defaults.clone();
        merged.extend(given);
        Ok(Value::Object(merged))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn defaults() -> Value {
        json!({"model": null, "deep": {"deeper": {"on": true, "most": 5}, "names": ["a"]}})
    }

    #[test]
    fn objects_merge_at_every_depth() {
        let merged = overlay(&defaults(), r#"{"deep": {"deeper": {"most": 7}}}"#).unwrap();
        assert_eq!(merged, json!({"model": null, "deep": {"deeper": {"on": true, "most": 7}, "names": ["a"]}}));
        let merged = overlay(&defaults(), r#"{"deep": {"names": []}, "model": "a/b"}"#).unwrap();
        assert_eq!(merged, json!({"model": "a/b", "deep": {"deeper": {"on": true, "most": 5}, "names": []}}));
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_line() {
        for (text, line, key, message) in [
            ("{\n\"deep\": {\n\"deepr\": 1}}", 3, "deep.deepr", "there is no such setting; there are deeper, names"),
            (
                "{\n\n\"deep\": {\"deeper\": {\n\"most\": \"7\"}}}",
                4,
                "deep.deeper.most",
                "expected a whole number from 1",
            ),
            ("{\"deep\": {\"deeper\": {\"most\": 0}}}", 1, "deep.deeper.most", "integer `0`"),
            ("{\"deep\": {\"deeper\": {\"most\": -1}}}", 1, "deep.deeper.most", "integer `-1`"),
            ("{\"deep\": {\"deeper\": {\"most\": 1.5}}}", 1, "deep.deeper.most", "floating point"),
            ("{\"deep\": {\"deeper\": {\"on\": null}}}", 1, "deep.deeper.on", "null, expected true or false"),
            ("{\"deep\": {\"names\": [1]}}", 1, "deep.names", "expected a string"),
            ("{\"deep\": []}", 1, "deep", "expected an object"),
            ("{\"model\": {}}", 1, "model", "expected a text or null"),
            ("{\"model\": \"a\",\n\"model\": \"b\"}", 2, "model", "set twice"),
            ("[]", 1, "", "expected an object"),
            ("{}\n{}", 2, "", "trailing characters"),
            ("{\n\"model\"", 2, "model", "EOF"),
            ("", 1, "", "EOF"),
        ] {
            let error = overlay(&defaults(), text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!((error.line.max(1), error.key.as_str()), (line, key), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_keeps_every_default_key(text in "[{}\\[\\]\":,a-z0-9 ]{0,40}") {
            if let Ok(merged) = overlay(&defaults(), &text) {
                prop_assert!(merged["deep"]["deeper"]["most"].is_u64());
            }
        }
    }
}
