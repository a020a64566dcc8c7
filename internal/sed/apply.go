package sed

import std "context"

// Apply runs the script over src and gives each change to edit. What it needs beside src is a small multiple of the longest
// line. The error is an [*Error], a [*LineError], [ErrReplacements] or [ErrText], that of edit, or that of the context, which is
// looked at within a line too.
func (s *Script) Apply(ctx std.Context, src []byte, bounds Bounds, edit Edit) (Stats, error) {
	r := s.run(ctx, bounds, edit)
	defer r.close()
	err := r.text(src)
	return r.stats, err
}
