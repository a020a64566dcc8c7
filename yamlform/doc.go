// Package yamlform reads and writes pipelines as YAML.
//
// [Decode] makes JSON of a YAML text and gives it to a [millrace.Decoder], so every rule of the JSON form holds, and
// each problem has the line and the column of the YAML text. It takes the part of YAML that JSON can express. Text
// that programs read differently, such as 012 or 2024-01-01 without quotes, is refused with advice, and so are
// anchors, aliases, merge keys and tags. docs/yaml.md has the table. [Encode] writes YAML that Decode reads as an
// equal pipeline.
package yamlform
