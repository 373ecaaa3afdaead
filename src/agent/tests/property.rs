//! Any script at all.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::rig::{Rig, Step, TOOLS, budget, call, fault, say};
use crate::agent::{Budget, Settled, SettledReason};

fn step() -> impl Strategy<Value = Step> {
    let tool = prop_oneof![6 => Just("echo"), 1 => Just("nothing"), 1 => proptest::sample::select(TOOLS.to_vec())];
    let calls = proptest::collection::vec((tool, 0..3_u8), 1..4).prop_map(|calls| {
        let calls: Vec<(String, &str, serde_json::Value)> = calls
            .into_iter()
            .enumerate()
            .map(|(position, (tool, argument))| (format!("c{position}"), tool, json!({"x": argument})))
            .collect();
        let calls: Vec<_> = calls.iter().map(|(id, tool, arguments)| (id.as_str(), *tool, arguments.clone())).collect();
        call(&calls)
    });
    let text = prop_oneof![Just(String::new()), "[a-zä€]{1,12}"];
    let kind = prop_oneof![
        2 => text.clone().prop_map(|text| say(&text)),
        6 => (calls, text).prop_map(|(calls, text)| calls.with_text(&text)),
        1 => any::<bool>().prop_map(fault),
    ];
    (kind, prop::bool::weighted(0.15), prop_oneof![4 => Just(0), 1 => 1..20_u64]).prop_map(|(step, cut, wait)| {
        let step = if cut { step.cut_by_length() } else { step };
        step.waiting(Duration::from_secs(wait))
    })
}

fn budgets() -> impl Strategy<Value = Budget> {
    (0..8_u32, 0..10_u32, 0..120_u64, 0..60_u64, 0..20_u64).prop_map(|(turns, calls, tokens, time, grace)| Budget {
        turns,
        calls,
        tokens,
        time: Duration::from_secs(time),
        grace: Duration::from_secs(grace),
        ..budget()
    })
}

fn run(budget: Budget, steps: Vec<Step>, stop_after: Option<usize>) -> Vec<Settled> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut rig = Rig::new(budget, steps);
        // `prompt` itself checks the events and the history of each run; what is left of the script goes to the second.
        let first = rig.prompt_until("how many?", stop_after).await.0;
        let second = rig.prompt("and now?").await.0;
        vec![first, second]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_script_gives_well_formed_events_and_a_valid_history(
        budget in budgets(),
        steps in proptest::collection::vec(step(), 0..10),
        stop_after in proptest::option::weighted(0.3, 1..60_usize),
    ) {
        let settled = run(budget, steps, stop_after);
        prop_assert!(settled[1].reason != SettledReason::Aborted, "nobody stopped the second");
    }

    #[test]
    fn any_script_ends_within_the_default_budget_too(steps in proptest::collection::vec(step(), 0..40)) {
        run(budget(), steps, None);
    }
}
