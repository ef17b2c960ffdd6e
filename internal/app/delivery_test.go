package app_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

func TestDeliveriesOverTheDailyLimitAreSkipped(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // everything happens on one day
		ada := s.Person("Ada")
		workspace := ada.Workspace("Free", board.PlanFree)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		list := ada.Must("create_list", fields{"boardId": b, "name": "L"}).ID()
		var hooks []string
		for range 2 {
			hooks = append(hooks, ada.Must("create_webhook",
				fields{"url": receiver, "events": []string{"card.created"}, "boardId": b}).ID())
		}
		s.Column("INSERT INTO delivery_days (organization_id, day, used) SELECT organization_id, $2, 497 FROM workspaces "+
			"WHERE id = $1 RETURNING day",
			workspace, s.Clock.Now().UTC().Format(board.DateLayout))
		for range 3 {
			ada.Must("create_card", fields{"listId": list, "title": "x"})
		}
		var states []string
		for _, h := range hooks {
			states = append(states, ada.All("list_deliveries", "status", fields{"webhookId": h})...)
		}
		slices.Sort(states)
		if !slices.Equal(states, []string{"pending", "pending", "pending", "skipped", "skipped", "skipped"}) {
			t.Errorf("with room for three, the states of six deliveries are %v, want three pending and three skipped", states)
		}
		skipped := ada.Must("list_deliveries", fields{"webhookId": hooks[1], "status": "skipped"})
		if !strings.Contains(skipped.Text("0.reason"), "limit of 500 deliveries a day") {
			t.Errorf("the reason in the log is %s; want it to contain %q", skipped.Text("0.reason"), "limit of 500 deliveries a day")
		}
		q := ada.Must("get_delivery_quota", fields{"workspaceId": workspace})
		if q.Get("used") != 500.0 || q.Get("limit") != 500.0 {
			t.Errorf("the quota is %s, want used and limit to be 500", q.Raw)
		}
		again := fields{"deliveryId": skipped.Text("0.id")}
		if a := ada.Call("redeliver", again); a.Code != board.CodePlanLimit {
			t.Errorf("redelivered over the limit: got status %d, body %s; want plan_limit", a.Status, a.Raw)
		}
		s.Clock.Advance(24 * time.Hour)
		if a := ada.Must("redeliver", again); a.Text("status") != "pending" || a.Text("id") != again["deliveryId"] {
			t.Errorf("redelivered on the next day: got %s, want the same delivery, pending", a.Raw)
		}
		if q := ada.Must("get_delivery_quota", fields{"workspaceId": workspace}); q.Get("used") != 1.0 {
			t.Errorf("the next day's quota is %s, want used to be 1", q.Raw)
		}
		if a := ada.Call("redeliver", again); a.Code != board.CodeInvalidRequest ||
			!strings.Contains(a.Message, "pending") {
			t.Errorf("redelivering a pending delivery: got status %d, body %s; want invalid_request", a.Status, a.Raw)
		}
	})
}

// Writing a skipped delivery prunes the log of its webhook. Otherwise the log is pruned after a
// delivery is sent, which never happens to skipped deliveries.
func TestSkippedDeliveriesArePruned(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada := s.Person("Ada")
		workspace := ada.Workspace("Free", board.PlanFree)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		list := ada.Must("create_list", fields{"boardId": b, "name": "L"}).ID()
		hook := ada.Must("create_webhook", fields{"url": receiver, "events": []string{"card.created"}, "boardId": b}).ID()
		s.Column("INSERT INTO delivery_days (organization_id, day, used) SELECT organization_id, $2, 498 FROM workspaces "+
			"WHERE id = $1 RETURNING day",
			workspace, s.Clock.Now().UTC().Format(board.DateLayout))
		for range 120 {
			ada.Must("create_card", fields{"listId": list, "title": "x"})
		}
		// The first two were within the daily limit. Pending deliveries are kept until they have been sent.
		if got := s.Column("SELECT status || ' ' || count(*) FROM deliveries WHERE webhook_id = $1 GROUP BY status ORDER BY status",
			hook); !slices.Equal(got, []string{"pending 2", "skipped 100"}) {
			t.Errorf("the log contains %v, want 2 pending and 100 skipped deliveries", got)
		}
	})
}

// The log shows at most a hundred deliveries of the last thirty days. Older ones are deleted.
func TestDeliveryLogIsBounded(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.webhook()
		before := len(w.owner.All("list_deliveries", "id", fields{"webhookId": w.hook, "limit": 200}))
		var ids []string
		for range 105 {
			ids = append(ids, w.newFailedDelivery())
		}
		log := w.owner.All("list_deliveries", "id", fields{"webhookId": w.hook, "limit": 30})
		slices.Reverse(ids)
		if before != 0 || !slices.Equal(log, ids[:100]) {
			t.Errorf("the log had %d deliveries and now has %d; want 0 and the last hundred, newest first", before, len(log))
		}
		n, err := s.DB.PruneDeliveries(t.Context(), w.hook, 1000)
		if err != nil || n != 5 {
			t.Errorf("pruned %d deliveries, error %v; want 5", n, err)
		}
		if got := w.owner.All("list_deliveries", "id", fields{"webhookId": w.hook, "limit": 200}); !slices.Equal(got, log) {
			t.Errorf("pruning changed the log")
		}
		s.Clock.Advance(board.DeliveryLifetime + time.Hour)
		if got := w.owner.All("list_deliveries", "id", fields{"webhookId": w.hook}); len(got) != 0 {
			t.Errorf("after thirty days the log has %d deliveries, want 0", len(got))
		}
		if a := w.owner.Call("get_delivery", fields{"deliveryId": log[0]}); a.Code != board.CodeNotFound {
			t.Errorf("get_delivery after thirty days: got status %d, body %s; want not_found", a.Status, a.Raw)
		}
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.PurgeDeliveries(ctx, 100)
			if s.DB.Shared() && n == 0 { // PostgreSQL deletes deliveries with their partition
				return err
			}
			if n != 100 {
				t.Errorf("purged %d deliveries, want 100", n)
			}
			return err
		})
	})
}

func TestRedeliverMany(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		ids := []string{w.newFailedDelivery(), w.newFailedDelivery(), w.newFailedDelivery()}
		before := w.owner.Must("get_delivery", fields{"deliveryId": ids[0]})
		if a := w.owner.Must("redeliver_many",
			fields{"webhookId": w.hook, "deliveryIds": ids[:1]}); !slices.Equal(texts(a.Get("deliveryIds")), ids[:1]) {
			t.Errorf("redelivering one by ID: got %s, want %v", a.Raw, ids[:1])
		}
		if a := w.owner.Must("redeliver_many",
			fields{"webhookId": w.hook, "status": "failed"}); !slices.Equal(texts(a.Get("deliveryIds")),
			[]string{ids[2], ids[1]}) {
			t.Errorf("redelivering all that failed: got %s, want %v", a.Raw, []string{ids[2], ids[1]})
		}
		after := w.owner.Must("get_delivery", fields{"deliveryId": ids[0]})
		if after.Text("body") != before.Text("body") || after.Text("status") != "pending" || after.Get("attempts") != 0.0 {
			t.Errorf("after redelivery the delivery is %s, want the same body, pending and without attempts", after.Raw)
		}
		if a := w.owner.Call("redeliver_many",
			fields{"webhookId": w.hook, "deliveryIds": []string{store.NewID("itg_") + ":v1"}}); a.Code != board.CodeNotFound {
			t.Errorf("redelivering an unknown delivery: got status %d, body %s; want not_found", a.Status, a.Raw)
		}
		w.newFailedDelivery()
		w.owner.Must("pause_webhook", fields{"webhookId": w.hook})
		if a := w.owner.Call("redeliver_many", fields{"webhookId": w.hook}); a.Code != board.CodeInvalidRequest ||
			!strings.Contains(a.Message, "disabled") {
			t.Errorf("redelivering while the webhook is disabled: got status %d, body %s, want invalid_request", a.Status, a.Raw)
		}
	})
}

func texts(list any) (out []string) {
	for _, v := range list.([]any) {
		out = append(out, v.(string))
	}
	return out
}
