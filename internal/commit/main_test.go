package commit_test

import (
	"os"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

func TestMain(m *testing.M) { os.Exit(fstest.Main(m)) }
