//! How rows of two tables belong together: the shortest way along keys.

use super::plan::Step;
use super::schema::{Col, Schema, TableId};
use super::stem::root;

/// The longest way that is followed, in hops: one link table, or two.
const LONGEST_WAY: usize = 4;

/// Why there is no single way.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NoWay {
    /// The tables have nothing in common.
    None,
    /// Several ways are equally short.
    Several(Vec<Vec<Step>>),
}

/// The way from one table to another; `via` narrows it to ways over that column.
pub(super) fn way(schema: &Schema, from: TableId, to: TableId, via: Option<Col>) -> Result<Vec<Step>, NoWay> {
    let mut fronts: Vec<Vec<Step>> = vec![Vec::new()];
    for _ in 0..LONGEST_WAY {
        fronts = fronts.iter().flat_map(|way| longer(schema, from, way)).collect();
        let arrived: Vec<Vec<Step>> = fronts
            .iter()
            .filter(|way| way.last().is_some_and(|step| step.far().table == to))
            .filter(|way| via.is_none_or(|col| way.iter().any(|step| step.key.from == col)))
            .cloned()
            .collect();
        match arrived.len() {
            0 => {}
            1 => return arrived.into_iter().next().ok_or(NoWay::None),
            _ => return by_role(schema, arrived),
        }
    }
    Err(NoWay::None)
}

/// Whether there is more than one shortest way, so that one had to be chosen.
pub(super) fn several(schema: &Schema, from: TableId, to: TableId) -> bool {
    let mut fronts: Vec<Vec<Step>> = vec![Vec::new()];
    for _ in 0..LONGEST_WAY {
        fronts = fronts.iter().flat_map(|way| longer(schema, from, way)).collect();
        let arrived = fronts.iter().filter(|way| way.last().is_some_and(|step| step.far().table == to)).count();
        if arrived > 0 {
            return arrived > 1;
        }
    }
    false
}

fn longer(schema: &Schema, start: TableId, way: &[Step]) -> Vec<Vec<Step>> {
    let here = way.last().map_or(start, |step| step.far().table);
    let visited = |table: TableId| table == start || way.iter().any(|step| step.far().table == table);
    schema
        .keys
        .iter()
        .flat_map(|&key| [Step { key, forward: true }, Step { key, forward: false }])
        .filter(|step| {
            step.near().table == here
                && (!visited(step.far().table)
                    || (step.far().table == start && way.len() == 1 && way[0].key != step.key))
        })
        .map(|step| {
            let mut way = way.to_vec();
            way.push(step);
            way
        })
        .collect()
}

/// Of two keys between the same tables, the one that is not named like the table is whose rows it holds:
/// the `friends` of somebody are found by `student_id`, not by `friend_id`.
fn by_role(schema: &Schema, ways: Vec<Vec<Step>>) -> Result<Vec<Step>, NoWay> {
    let named_like_table = |way: &Vec<Step>| {
        way.iter().any(|step| {
            let from = step.key.from;
            let table = &schema.tables[from.table].words;
            schema.column(from).words.first().is_some_and(|word| table.iter().any(|own| root(own) == root(word)))
        })
    };
    let (like, unlike): (Vec<_>, Vec<_>) = ways.iter().cloned().partition(named_like_table);
    match unlike.as_slice() {
        [only] if !like.is_empty() => Ok(only.clone()),
        _ => Err(NoWay::Several(ways)),
    }
}
