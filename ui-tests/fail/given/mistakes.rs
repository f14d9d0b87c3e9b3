#![allow(unused_variables)]

use contract_runtime::prelude::*;

fn find(id: u32) -> Option<u32> {
    Some(id)
}

#[given]
fn nothing(id: u32) {}

#[given(find(id))]
fn nameless(id: u32) {}

#[given(_ = find(id))]
fn dropped(id: u32) {}

#[given(id = find(id))]
fn shadowing(id: u32) {}

#[given(order = find(id), else "no order {id}")]
#[given(order = find(id), else "no order {id}")]
fn twice(id: u32) {}

#[given(order = find(id), policy = observe)]
fn with_a_policy(id: u32) {}

#[given(order = find(id), otherwise "no order {id}")]
fn with_another_word(id: u32) {}

#[given(order = find(id), else 5)]
fn without_a_sentence(id: u32) {}

#[given(order = find(id), else "there is no {order}")]
fn showing_what_is_missing(id: u32) {}

#[given(order = old(find(id)))]
fn in_the_past(id: u32) {}

#[given(order = find(id), then)]
fn without_an_end(id: u32) {}

#[given(order = find(id), requires = "the order exists")]
fn refusing_no_call(id: u32) {}

#[given(order = find(id), else, requires = 5)]
fn without_words(id: u32) {}

fn main() {}
