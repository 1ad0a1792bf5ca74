//! Rows as a table for people, one JSON array, or CSV.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, print};
use crate::text::harmless;

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// One array of objects.
    Json,
    /// RFC 4180, with a header.
    Csv,
}

/// Prints `rows`, each of which serialises to an object.
///
/// * `columns`: the fields that people see, left to right; JSON and CSV hold all of them.
///
/// # Errors
/// Standard output that can't be written.
pub fn print_rows<R: Serialize>(rows: &[R], columns: &[&str], format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Json => serde_json::to_string_pretty(rows).map(|text| harmless(&text).into_owned() + "\n"),
        Format::Table => objects(rows).map(|rows| table(&rows, columns)),
        Format::Csv => objects(rows).map(|rows| csv(&rows, columns)),
    };
    print(text.map_err(|error| Failure::new(1, format!("a row can't be written: {error}")))?.as_bytes())
}

fn objects<R: Serialize>(rows: &[R]) -> serde_json::Result<Vec<Map<String, Value>>> {
    rows.iter().map(|row| serde_json::from_value(serde_json::to_value(row)?)).collect()
}

fn shown(row: &Map<String, Value>, column: &str) -> String {
    match row.get(column) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => harmless(text).into_owned(),
        Some(value) => value.to_string(),
    }
}

fn table(rows: &[Map<String, Value>], columns: &[&str]) -> String {
    let mut lines = vec![columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|column| shown(row, column)).collect()));
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The columns of the table first, then what it leaves out.
fn csv(rows: &[Map<String, Value>], columns: &[&str]) -> String {
    let mut names: Vec<&str> = columns.to_vec();
    for name in rows.iter().flat_map(Map::keys) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let header = names.iter().map(|name| (*name).to_owned()).collect();
    let lines = rows.iter().map(|row| names.iter().map(|name| quoted(&shown(row, name))).collect());
    std::iter::once(header).chain(lines).map(|line: Vec<String>| line.join(",") + "\r\n").collect()
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Vec<Map<String, Value>> {
        objects(&[json!({"id": "a-long-id", "bits": 8, "note": null}), json!({"id": "b", "note": "6\", or 7"})])
            .unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_space() {
        assert_eq!(table(&rows(), &["id", "bits"]), "id         bits\na-long-id  8\nb\n");
    }

    #[test]
    fn text_of_others_does_nothing_to_a_terminal() {
        let rows = objects(&[json!({"id": "a\u{1b}[2J\u{202e}b"})]).unwrap();
        assert_eq!(table(&rows, &["id"]), "id\na\\u001b[2J\\u202eb\n");
        assert_eq!(csv(&rows, &["id"]), "id\r\na\\u001b[2J\\u202eb\r\n");
    }

    #[test]
    fn csv_quotes_what_would_break_a_line_and_keeps_fields_that_the_table_leaves_out() {
        assert_eq!(csv(&rows(), &["id"]), "id,bits,note\r\na-long-id,8,\r\nb,,\"6\"\", or 7\"\r\n");
    }
}
