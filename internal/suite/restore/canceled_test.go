package restore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestBackups_canceled: verbs that read backups, which may take long, stop when the context is done.
func TestBackups_canceled(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	fsys := suite.Tree("a.txt", "old\n", "b.txt", "old\n", "c.txt", "c\n")
	id := edited(t, fsys, x).BackupID
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, listing := x.ListBackups(ctx, fsys)
	_, planning := x.PlanRestore(ctx, fsys, id)
	_, restoring := x.Restore(ctx, fsys, id)
	for name, err := range map[string]error{
		"list": listing, "verify": x.VerifyBackup(ctx, fsys, id), "plan": planning, "restore": restoring,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := text(t, fsys, "a.txt"); got != "new\n" {
		t.Errorf("a.txt is %q", got)
	}
}
