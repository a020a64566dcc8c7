//go:build linux || darwin

package hostile_test

func (f foldFs) Link(a, b string) error { return f.RootFs.Link(f.spelled(a), f.spelled(b)) }
func (f foldFs) Exchange(a, b string) error {
	return f.RootFs.Exchange(f.spelled(a), f.spelled(b))
}
func (f foldFs) RenameNoReplace(a, b string) error {
	return f.RootFs.RenameNoReplace(f.spelled(a), f.target(a, b))
}
func (f foldFs) SyncDir(n string) error     { return f.RootFs.SyncDir(f.spelled(n)) }
func (f foldFs) CopyMeta(a, b string) error { return f.RootFs.CopyMeta(f.spelled(a), f.spelled(b)) }
func (f foldFs) LinkTimes(n string, mtime int64) error {
	return f.RootFs.LinkTimes(f.spelled(n), mtime)
}
