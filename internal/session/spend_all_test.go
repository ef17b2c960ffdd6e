package session

import (
	"testing"
	"time"
)

// If one of several limits is used up, nothing is counted against the others.
func TestRefusedSpendCountsNothing(t *testing.T) {
	t.Parallel()
	c, now := newCounts(false, false), time.Now()
	network := Subject{Limit: Limit{Name: "network", Most: 10, Window: time.Minute}, Of: "n"}
	proxy := Subject{Limit: Limit{Name: "proxy", Most: 2, Window: time.Minute}, Of: "p"}
	for range 2 {
		if rate, ok := c.spendAll(now, network, proxy); !ok || rate.Limit != 10 {
			t.Fatalf("got rate %+v, allowed %t; want the rate of the network, allowed", rate, ok)
		}
	}
	if rate, ok := c.spendAll(now, network, proxy); ok || rate.Limit != 2 {
		t.Errorf("got rate %+v, allowed %t; want the rate of the proxy, refused", rate, ok)
	}
	if got := c.peek(network, now).Remaining; got != 8 {
		t.Errorf("the network has %d requests left, want 8", got)
	}
}
