package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clocked lists the tests, and the functions of tests, that may wait for a time or measure one, with
// the reason. Other tests wait for events with apptest.Eventually, Await and Receive, prove that
// nothing happens by something that must happen later, and leave speed to `make bench`.
var clocked = map[string]string{
	"cmd/cardwall/crash_server_test.go load":                    "a killed server should get few requests",
	"cmd/cardwall/days_test.go receive":                         inBubble,
	"cmd/cardwall/idle_linux_test.go TestIdleServerSleeps":      "counts the wakes of a second, of which one in thirty must pass",
	"cmd/cardwall/mcp_suite_test.go node":                       "ends a program before the test's own deadline, so that its output is shown",
	"cmd/cardwall/operate_test.go TestLastBackupIsInTheMetrics": "compares a stored time with those before and after the command",
	"cmd/cardwall/relocate_test.go TestSystemMigrateUnderLoad":  "chooses a random moment for a kill",
	"cmd/cardwall/relocate_test.go startReading":                "leaves processor time for the migration",
	"cmd/cardwall/roll_test.go newBalancer":                     "the interval of a load balancer's health checks",
	"cmd/cardwall/roll_test.go start":                           "the pace of writers",
	"internal/account/enumeration_test.go TestSignInTimeDoesNotRevealAccounts": "compares the shortest of up to fifty " +
		"alternating calls; nothing but the time could tell an attacker",
	"internal/app/idempotency_test.go TestCopyOfARequestThatStillRuns":            "a copy must not give up before two seconds",
	"internal/app/pooler_test.go TestLockTimeoutWorksBehindPgbouncer":             "a lock must not be given up before two seconds",
	"internal/apptest/postgres.go execPostgres":                                   "ends a statement after the end of its test",
	"internal/connect/flow_test.go TestDisconnectedClientIsRejectedByEveryServer": "like tests of session, of access that ends",
	"internal/dbtool/relocate_test.go TestWritesFailWhileTheFileIsLocked": "compares with the wait of one write in the same " +
		"test, of ten seconds",
	"internal/dbtool/reseal_test.go TestResealWaitsForTransactions": "SQLite does not show that a write is waiting; on a " +
		"slow machine, the test may miss a fault, but does not fail",
	"internal/file/blobs_test.go names":          "checks that a time is that of today",
	"internal/hook/export_test.go DelayHandOver": "delays what the test calls for",
	"internal/hook/loopback_test.go TestSlowAttemptIsNotShownAsDeliveringAfterItEnds": "an attempt must be slow, and the " +
		"database locked, for at least this long",
	"internal/hook/response_test.go TestAttemptsTimeOut":                     inBubble,
	"internal/hook/restart_test.go delayed":                                  inBubble,
	"internal/hook/retry_test.go TestDeliveryIsAttemptedNineTimesOnSchedule": inBubble,
	"internal/hook/throttle_test.go pauseUntil":                              inBubble,
	"internal/hook/world_test.go advance":                                    inBubble,
	"internal/op/admission_test.go offer":                                    inBubble,
	"internal/password/password_test.go TestCheckingIsFast": "compares the shortest of up to fifty alternating runs " +
		"with the hash that follows",
	"internal/rest/exchange_test.go TestSlowOperationIsAWarning": "an operation must take longer than the second after " +
		"which it is logged; a quick one is judged only if it was quick",
	"internal/rest/overload_test.go probe": "tells a check that ran out of its two seconds from one that failed",
	"internal/session/revoked_test.go TestPlanChangeTakesEffectOnEveryServerWithinASecond": "servers remember plans for a second " +
		"of real time; what they respond later does not depend on the machine",
	"internal/session/revoked_test.go TestRevokedAccessEndsOnEveryServerWithinASecond": "as the test above",
	"internal/spool/spool_test.go testMinRate":                                         inBubble,
	"internal/sqldb/limit_test.go TestLimitAppliesToOneStatement": "time must pass between statements; a statement is judged " +
		"only if it ended within its limit",
	"internal/sqldb/limit_test.go TestStatementsEndAtTheirLimit":  "a statement must not end before its limit",
	"internal/sqldb/race_test.go TestIdleWriteTransactionIsEnded": "a read must be idle for at least this long",
	"internal/sqldb/write_queue_test.go TestWriteQueues":          inBubble,
	"internal/trace/trace_test.go TestFailingCollector":           "a close must end by its context, since the collector hangs",
}

const inBubble = "runs in a synctest bubble, which a caller creates"

// clocks are the functions that wait for a time or measure one.
var clocks = map[string]bool{
	"time.Sleep": true, "time.After": true, "time.Since": true, "time.Until": true, "context.WithTimeout": true,
	"context.WithDeadline": true,
}

// bubbles are the functions that run a test in a synctest bubble, in which time passes only when every
// goroutine waits.
var bubbles = []string{"synctest.Test", "bubble", "onPostgres"}

// No test depends on how fast the machine is.
func TestTestsDoNotDependOnTheClock(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, root := range []string{"../internal", "../cmd", "../perf", "../tools"} {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := strings.TrimPrefix(path, "../")
			isTest := strings.HasSuffix(path, "_test.go") || strings.HasPrefix(name, "internal/apptest/") && strings.HasSuffix(path, ".go")
			if err != nil || !isTest || name == "internal/apptest/eventually.go" {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				where := name
				if fn, ok := decl.(*ast.FuncDecl); ok {
					where += " " + fn.Name.Name
				}
				for _, use := range clockUses(decl) {
					used[where] = true
					if _, ok := clocked[where]; !ok {
						t.Errorf("%s: %s uses %s. Wait for an event instead, or add the function to clocked with a reason.",
							set.Position(use.Pos()), where, nameOf(use))
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for where := range clocked {
		if !used[where] {
			t.Errorf("%s no longer uses a clock; remove it from clocked", where)
		}
	}
}

// clockUses returns the calls below n that depend on the clock, outside of bubbles.
func clockUses(n ast.Node) (uses []*ast.CallExpr) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := nameOf(call)
		if slices.Contains(bubbles, name) || strings.HasSuffix(name, "Clock.Advance") {
			return false
		}
		// time.Now().After(deadline) and deadline.Before(time.Now()) compare as well.
		comparesNow := (strings.HasSuffix(name, ".After") || strings.HasSuffix(name, ".Before")) && slices.ContainsFunc(
			append([]ast.Expr{call.Fun}, call.Args...), containsNow)
		if clocks[name] || comparesNow {
			uses = append(uses, call)
		}
		return true
	})
	return uses
}

func containsNow(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && nameOf(call) == "time.Now"
		return true
	})
	return found
}

// nameOf returns the name of a called function, such as "time.Sleep".
func nameOf(call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		switch x := fn.X.(type) {
		case *ast.Ident:
			return x.Name + "." + fn.Sel.Name
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + fn.Sel.Name
		}
		return "." + fn.Sel.Name
	}
	return ""
}
