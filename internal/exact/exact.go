// Package exact passes strings that are not valid UTF-8, such as names and bytes of files, through JSON: encoding/json
// would replace invalid bytes by U+FFFD.
package exact

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mark is written before two hexadecimal digits, for a byte, and before another mark, for a literal mark. Unicode
// reserves it for use within a program.
const mark = "\uFDD0"

// Escape returns valid UTF-8 that Unescape converts back to the text. Most texts stay unchanged.
func Escape(text string) string {
	if utf8.ValidString(text) && !strings.Contains(text, mark) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%s%02x", mark, text[0])
		case text[:size] == mark:
			b.WriteString(mark + mark)
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Unescape returns the text that was passed to Escape. Text that Escape has not written stays unchanged.
func Unescape(text string) string {
	if !strings.Contains(text, mark) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, mark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n, err := strconv.ParseUint(rest[:min(2, len(rest))], 16, 8)
		after, twice := strings.CutPrefix(rest, mark)
		switch {
		case twice:
			b.WriteString(mark)
			text = after
		case err == nil && len(rest) > 1:
			b.WriteByte(byte(n))
			text = rest[2:]
		default:
			b.WriteString(mark)
			text = rest
		}
	}
}

// Survives reports whether JSON changes no string of a value, including keys of maps, and no string looks escaped.
func Survives(v any) bool { return survives(reflect.ValueOf(v)) }

func survives(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		return utf8.ValidString(text) && !strings.Contains(text, mark)
	case reflect.Struct:
		for i := range v.NumField() {
			if !survives(v.Field(i)) {
				return false
			}
		}
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || survives(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if !survives(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !survives(it.Key()) || !survives(it.Value()) {
				return false
			}
		}
	}
	return true
}

// Map returns a copy of a value, in which each string, including keys of maps, is replaced by the result of f.
// Unexported fields are zero in the copy; f must not make two keys of a map equal.
func Map[T any](v T, f func(string) string) T {
	return mapped(reflect.ValueOf(&v).Elem(), f).Interface().(T)
}

func mapped(v reflect.Value, f func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(f(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(mapped(v.Field(i), f))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(mapped(v.Elem(), f))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(mapped(v.Elem(), f))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(mapped(v.Index(i), f))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(mapped(it.Key(), f), mapped(it.Value(), f))
			}
		}
	default:
		out.Set(v)
	}
	return out
}
