// Package yamlform reads and writes pipelines as YAML.
//
// [Decode] converts a YAML text to JSON for a [millrace.Decoder], so every rule of the JSON form applies, and each
// problem has its line and column in the YAML text. It accepts the part of YAML that JSON can express. Text that
// programs read differently, such as 012 or 2024-01-01 without quotes, is refused with advice, and so are anchors,
// aliases, merge keys and tags. docs/yaml.md has the table. [Encode] writes YAML that Decode reads as an equal
// pipeline.
package yamlform
