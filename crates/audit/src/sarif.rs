//! Findings as SARIF 2.1.0 (OASIS), which code scanning services read.

use fwdlab_guard::words::in_json;
use serde_json::{Value, json};

use super::report::Report;
use fwdlab_evidence::finding::{AuditFinding, Rule, Severity};
use fwdlab_results::{Error, Result};

/// The report as a SARIF log with one run.
///
/// # Errors
/// When serde cannot encode it.
pub fn sarif(report: &Report) -> Result<String> {
    let rules: Vec<Value> = Rule::ALL.iter().map(|rule| described(*rule)).collect();
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "fwdlab audit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let encode = |source| Error::Encode { what: "the SARIF log", source };
    Ok(in_json(&serde_json::to_string_pretty(&log).map_err(encode)?).into_owned())
}

fn described(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": { "text": rule.summary() },
        "help": { "text": format!("docs/audit.md, section {}", rule.id()) },
    })
}

fn result(finding: &AuditFinding) -> Value {
    let level = match finding.severity {
        Severity::Wrong => "error",
        Severity::Check => "warning",
        Severity::Info => "note",
    };
    let message = format!("{} — {} ({})", finding.claim, finding.data, finding.suggestion);
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
    json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": index,
        "level": level,
        "message": { "text": message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&finding.file) },
            "region": { "startLine": finding.line.max(1) },
        }}],
    })
}

/// A path as a relative URI reference (RFC 3986): everything but unreserved
/// characters and `/` is percent-encoded.
fn uri(path: &str) -> String {
    let path = path.trim_start_matches("./");
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_becomes_a_result_with_its_place() {
        let finding = AuditFinding {
            file: "./a b/README.md".to_owned(),
            line: 7,
            severity: Severity::Wrong,
            rule: Rule::ClaimSign,
            claim: "c".to_owned(),
            data: "d".to_owned(),
            suggestion: "s".to_owned(),
        };
        let report = Report { findings: vec![finding], ..Report::default() };
        let log: Value = serde_json::from_str(&sarif(&report).unwrap()).unwrap();
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["level"], "error");
        assert_eq!(result["ruleId"], "claim-sign");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b/README.md");
        assert_eq!(place["region"]["startLine"], 7);
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index]["id"], "claim-sign");
    }

    /// A directory whose name has a zero-width space made JSON that no reader takes, when it was printed.
    #[test]
    fn hidden_characters_are_written_out_as_json_does() {
        let finding = AuditFinding {
            file: "fbsd\u{200b}12/README.md".to_owned(),
            line: 1,
            severity: Severity::Check,
            rule: Rule::ClaimSign,
            claim: String::new(),
            data: String::new(),
            suggestion: String::new(),
        };
        let report = Report { findings: vec![finding], ..Report::default() };
        for text in [report.to_json().unwrap(), sarif(&report).unwrap()] {
            assert_eq!(fwdlab_guard::words::visible(&text), text);
        }
        let read: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        assert_eq!(read["findings"][0]["file"], report.findings[0].file);
    }
}
