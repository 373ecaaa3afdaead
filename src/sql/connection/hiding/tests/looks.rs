//! What the schema's own tools show.

use super::*;
use crate::sql::gate::TableDescription;

fn described(stage: &mut Stage, table: &str) -> TableDescription {
    match stage.describe(table) {
        Ok(Reply::DescribeTable(description)) => {
            assert_silent(table, &serde_json::to_string(&description).unwrap());
            description
        }
        other => panic!("{table}: {other:?}"),
    }
}

#[test]
fn lists_and_descriptions_hold_no_hidden_name_and_no_hidden_value() {
    let mut stage = stage();
    let Reply::ListTables(list) = stage.list() else { panic!() };
    let listed: Vec<&str> = list.tables.iter().map(|table| table.name.as_str()).collect();
    let expected = [
        "archive", "articles", "badge", "broken", "fine", "fine2", "news", "orders", "remarked", "staff", "team",
        "tickets",
    ];
    assert_eq!(listed, expected);
    assert_eq!(list.total, expected.len());
    for table in listed {
        assert_silent(table, &told(&stage.describe(table)));
    }
}

#[test]
fn a_description_leaves_out_columns_keys_indexes_and_definitions_that_tell() {
    let mut stage = stage();
    let staff = described(&mut stage, "staff");
    let columns: Vec<&str> = staff.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["id", "name", "dept", "size"]);
    let indexes: Vec<&str> = staff.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(indexes, ["by_name"]);
    let pointing: Vec<&str> = staff.referenced_by.iter().map(|key| key.table.as_str()).collect();
    assert_eq!(pointing, ["orders"]);
    let orders = described(&mut stage, "orders");
    let to: Vec<&str> = orders.foreign_keys.iter().map(|key| key.table.as_str()).collect();
    assert_eq!(to, ["staff"], "badge's key is hidden");
    assert_eq!(described(&mut stage, "remarked").definition, None);
    assert!(described(&mut stage, "fine").definition.unwrap().contains("SELECT id, name FROM staff"));
    assert_eq!(described(&mut stage, "badge").columns.len(), 1);
}

#[test]
fn a_hidden_table_is_described_as_one_that_does_not_exist() {
    let (mut stage, mut stripped) = (stage(), opened(STRIPPED, &[]).unwrap());
    for name in NAMES.into_iter().chain(["SALARIES", "memo_content", "main.pay", "'plac"]) {
        assert_eq!(told(&stage.describe(name)), told(&stripped.describe(name)));
    }
    for near in ["salarie", "pays", "natural_views", "main.\"salarie\"", "place", "places_nodes"] {
        assert_silent(near, &told(&stage.describe(near)));
    }
}
