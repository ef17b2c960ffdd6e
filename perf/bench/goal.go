package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// goalClients is the number of clients to which most goals apply. A target can set another number.
const goalClients = 16

// Benchmark names, which -only matches and the table shows.
const (
	nameCreate    = "create_card"
	nameCreate40  = "create_card on 40 boards"
	nameUpdate    = "update_card"
	nameMove      = "move_card"
	nameGet       = "get_card"
	nameList1k    = "list_cards 1,000"
	nameList10k   = "list_cards 10,000"
	nameUnchanged = "list_cards 10,000, unchanged"
	nameChanging  = "list_cards 1,000, ten changes a second"
	nameFiltered  = "list_cards 1,000, assigned to me"
	nameCompact   = "list_cards 1,000, compact"
	nameMixed     = "mixed, 80 % reads"
	nameCreateOne = "create_card, alone"
	nameGetOne    = "get_card, alone"

	nameTool     = "mcp, get_card"
	nameToolOld  = "mcp, get_card, 2025-11-25"
	nameToolRest = "mcp, the card over REST"

	nameSearchRare   = "search, rare word"
	nameSearchMedium = "search, medium word"
	nameSearchCommon = "search, common word"
	nameDashboard    = "dashboard"
	nameCalendar     = "calendar"
	nameFilterCards  = "filter cards"

	nameRuleWithout   = "update_card, 1,000/s"
	nameRuleFifth     = "automation for one in five, update_card, 1,000/s"
	nameRuleFifthRuns = "automation for one in five, runs"
	nameRuleWith      = "automation, update_card, 1,000/s"
	nameRuleRuns      = "automation, runs"

	nameOverloadBest     = "overload, peak rate alone"
	nameOverload         = "overload, five times the best rate"
	nameOverloadRefused  = "overload, refused"
	nameOverloadRecovery = "overload, recovery of reports"

	nameExport      = "export 200,000 cards"
	nameUpload      = "files, upload of 100 MB"
	nameUploadParts = "files, upload of 100 MB in parts"
	nameDownload    = "files, download of 100 MB"

	nameNeighborIdle        = "neighbor, idle"
	nameNeighborSearches    = "neighbor, 8 searches in 50,000 cards"
	nameNeighborExports     = "neighbor, 8 exports at 100 kB/s"
	nameNeighborSlowUploads = "neighbor, 200 slow uploads"
	nameNeighborFiles       = "neighbor, 16 uploads of 10 MB"
	nameNeighborBad         = "neighbor, 3 imports of 93 MB, last byte wrong"
	nameNeighborCopy        = "neighbor, copy of 5,000 heavy cards"
	nameNeighborImport      = "neighbor, import of 86 MB"
	nameNeighborLarge       = "large, 8 greedy searches"
	nameRetention           = "retention of ten years"

	nameHookDrain     = "webhooks, drain"
	nameHookDrainFive = "webhooks, drain, five per board"
	nameHookDrainHost = "webhooks, drain to one host"
	nameHookLive      = "webhooks, live"
	nameHookLiveFive  = "webhooks, live, five per board"
	nameHookPaced     = "webhooks, 1,000/s"
	nameHookHang      = "webhooks, 1,000/s, one hangs"
	nameHookBare      = "webhooks, bare client"
	nameHookTakeover  = "webhooks, takeover" + namePostgres
	nameSoak          = "soak"

	nameFirst       = "first response"
	nameFirstFilled = "first response, filled"
	nameIdle        = "memory, idle"
	nameLoaded      = "memory, under load"
	nameIdleCPU     = "processor, idle"
	namePoller      = "processor, 200 boards polled every 10 s"
	nameFolder      = "data folder"

	namePostgres = ", PostgreSQL"

	nameLarge = "large"

	nameLargeOne       = "large one workspace"
	nameFirstDashboard = "first dashboard"
	nameOverview       = "overview"
	nameSearchPhrase   = "search, phrase of common words"
	nameSearchNoPhrase = "search, missing phrase of common words"
	nameSearchFiltered = "search, common word and a filter"
	nameSearchScarce   = "search, medium word and two filters"

	nameHello     = "bare hello"
	nameMemory    = "bare 50 cards from memory"
	nameRows      = "bare 50 cards from SQLite"
	nameRow       = "bare card from SQLite"
	nameRawSingle = "raw SQLite, 1 per commit"
	nameRawGroup  = "raw SQLite, 16 per commit"
	nameFsync     = "fsync 4 kB"

	nameRawPostgres      = "raw PostgreSQL, 16 clients"
	nameRawPostgresAlone = "raw PostgreSQL, alone"
)

// target holds the goals for a benchmark. A zero field sets no goal.
type target struct {
	clients  int           // the goals apply to this number of clients; 0 means goalClients
	rate     float64       // minimum number of operations per second
	p50      time.Duration // upper limit
	p99      time.Duration // upper limit
	cpu      float64       // upper limit of the server's processor time, in milliseconds per request
	noErrors bool
}

// targets returns the goals for each benchmark on two processors, by name.
func targets() map[string]target {
	write := target{rate: 1600, p99: 45 * time.Millisecond, noErrors: true}
	create := write
	create.cpu = 0.9
	alone := func(p50 time.Duration) target { return target{clients: 1, p50: p50, noErrors: true} }
	return map[string]target{
		nameCreate:    create,
		nameUpdate:    write,
		nameMove:      write,
		nameGet:       {rate: 3000, cpu: 0.4, noErrors: true},
		nameList1k:    {rate: 1200, cpu: 1.5, noErrors: true},
		nameList10k:   {cpu: 1.5, noErrors: true},
		nameUnchanged: {noErrors: true},
		nameChanging:  {cpu: 0.25, noErrors: true},
		nameFiltered:  {cpu: 0.25, noErrors: true},
		nameCompact:   {cpu: 0.25, noErrors: true},
		nameCreate40:  {noErrors: true},

		nameRuleWithout:   {rate: 950, noErrors: true},
		nameRuleFifth:     {rate: 950, noErrors: true},
		nameRuleFifthRuns: {rate: 180, p99: time.Second, noErrors: true},
		nameRuleWith:      {rate: 950, noErrors: true},
		nameRuleRuns:      {rate: 900, p99: time.Second, noErrors: true},

		nameTool:    {rate: 1000, noErrors: true},
		nameToolOld: {rate: 1000, noErrors: true},

		nameSearchRare:   alone(20 * time.Millisecond),
		nameSearchMedium: alone(20 * time.Millisecond),
		nameSearchCommon: alone(20 * time.Millisecond),
		nameDashboard:    alone(150 * time.Millisecond),
		nameCalendar:     alone(30 * time.Millisecond),
		nameFilterCards:  alone(30 * time.Millisecond),

		nameHookDrain:     {clients: hookEndpoints, rate: 4000, cpu: 0.15, noErrors: true},
		nameHookDrainFive: {clients: hookEndpoints, rate: 8000, noErrors: true},
		nameHookDrainHost: {clients: hookEndpoints, noErrors: true},
		nameHookLive:      {noErrors: true},
		nameHookLiveFive:  {noErrors: true},
		nameHookPaced:     {clients: hookSenders, p50: 3 * time.Millisecond, p99: 50 * time.Millisecond, noErrors: true},
		nameHookHang:      {clients: hookSenders, p99: 50 * time.Millisecond, noErrors: true},
		nameSoak:          {clients: soakEndpoints, noErrors: true},
	}
}

// goals returns each goal of p and whether the result meets it.
func (p target) goals(res *result) []goal {
	var all []goal
	if p.rate > 0 {
		all = append(all, goal{"≥ " + thousands(p.rate) + "/s", res.rate() >= p.rate})
	}
	if p.p50 > 0 {
		met := res.latency.Count > 0 && res.latency.Quantile(0.50) < p.p50
		all = append(all, goal{fmt.Sprintf("p50 < %.0f ms", milliseconds(p.p50)), met})
	}
	if p.p99 > 0 {
		all = append(all, goal{fmt.Sprintf("p99 < %.0f ms", milliseconds(p.p99)), res.latency.Quantile(0.99) < p.p99})
	}
	if p.cpu > 0 {
		cpu := res.perRequest(res.serverCPU)
		all = append(all, goal{"CPU < " + strconv.FormatFloat(p.cpu, 'f', -1, 64) + " ms", cpu > 0 && cpu < p.cpu})
	}
	if p.noErrors {
		all = append(all, goal{"no error", res.errors == 0})
	}
	return all
}

// comparison compares a benchmark with another benchmark of the same run.
type comparison struct {
	name, to string
	atLeast  float64 // minimum rate, as a fraction of the other's rate; 0 sets no goal
	cpu      float64 // maximum processor time, as a multiple of the other's; 0 sets no goal
}

// comparisons returns the comparisons that the table shows. Most compare a benchmark with the machine's limit for it.
// The goals of the first group are those of a quiet machine, divided by the limit that was measured there.
func comparisons() []comparison {
	const hello, memory, raw, rawPostgres = 57_000, 9_600, 38_000, 23_000 // operations per second
	return []comparison{
		{name: nameGet, to: nameHello, atLeast: 20_000.0 / hello},
		{name: nameList1k, to: nameMemory, atLeast: 6_000.0 / memory},
		{name: nameList10k, to: nameMemory, atLeast: 6_000.0 / memory},
		{name: nameUnchanged, to: nameHello, atLeast: 20_000.0 / hello},
		{name: nameChanging, to: nameMemory, atLeast: 6_000.0 / memory},
		{name: nameFiltered, to: nameMemory, atLeast: 6_000.0 / memory},
		{name: nameCompact, to: nameMemory, atLeast: 6_000.0 / memory},
		{name: nameCreate, to: nameRawGroup, atLeast: 6_000.0 / raw},
		{name: nameUpdate, to: nameRawGroup, atLeast: 6_000.0 / raw},
		{name: nameMove, to: nameRawGroup, atLeast: 6_000.0 / raw},
		{name: nameCreate40, to: nameRawGroup},
		{name: nameMixed, to: nameHello, atLeast: 8_000.0 / hello},
		{name: nameCreate + namePostgres, to: nameRawPostgres, atLeast: 2_000.0 / rawPostgres},
		{name: nameUpdate + namePostgres, to: nameRawPostgres},
		{name: nameMove + namePostgres, to: nameRawPostgres},
		{name: nameCreate40 + namePostgres, to: nameRawPostgres, atLeast: 4_000.0 / rawPostgres},
		{name: nameGet + namePostgres, to: nameHello, atLeast: 8_000.0 / hello},
		{name: nameList10k + namePostgres, to: nameMemory, atLeast: 2_500.0 / memory},

		{name: nameList10k, to: nameList1k, atLeast: 0.9},
		{name: nameList1k, to: nameRows},
		{name: nameList10k, to: nameRows},
		{name: nameGet, to: nameRow},
		{name: nameRuleFifth, to: nameRuleWithout, atLeast: 0.95},
		{name: nameRuleWith, to: nameRuleWithout, atLeast: 0.95},
		{name: nameTool, to: nameToolRest, cpu: 1.3},
		{name: nameToolOld, to: nameToolRest, cpu: 1.3},
		{name: nameCreateOne, to: nameRawSingle},
		{name: nameRows, to: nameMemory},
		{name: nameHookDrain, to: nameHookBare},
		{name: nameHookDrainFive, to: nameHookBare},
		{name: nameHookDrainHost, to: nameHookDrain},
		{name: nameHookLiveFive, to: nameHookBare},
		{name: nameRawSingle, to: nameFsync},
		{name: nameCreateOne + namePostgres, to: nameRawPostgresAlone},
		{name: nameRawPostgresAlone, to: nameFsync},
	}
}

// addGoals adds the ratios and goals to rows.
func addGoals(rows []row) {
	rates, times := make(map[string]float64), make(map[string]float64)
	for _, r := range rows {
		if r.result != nil {
			rates[r.name], times[r.name] = r.result.rate(), r.result.perRequest(r.result.serverCPU)
		}
	}
	wanted, compared := targets(), comparisons()
	for i := range rows {
		r := &rows[i]
		if r.result == nil {
			continue
		}
		if p := wanted[r.name]; r.result.clients == cmp.Or(p.clients, goalClients) {
			r.goals = append(r.goals, p.goals(r.result)...)
		}
		for _, c := range compared {
			if c.name != r.name || rates[c.to] == 0 {
				continue
			}
			ratio := rates[c.name] / rates[c.to]
			r.ratios = append(r.ratios, fmt.Sprintf("%.2f of %s", ratio, c.to))
			if c.atLeast > 0 {
				r.goals = append(r.goals, goal{fmt.Sprintf("≥ %.2g of %s", c.atLeast, c.to), ratio >= c.atLeast})
			}
			if c.cpu > 0 && times[c.to] > 0 {
				ratio := times[c.name] / times[c.to]
				r.ratios = append(r.ratios, fmt.Sprintf("CPU %.2f", ratio))
				r.goals = append(r.goals, goal{fmt.Sprintf("CPU ≤ %.1f of %s", c.cpu, c.to), ratio <= c.cpu})
			}
		}
	}
}

// limitOf returns the benchmark that shows the machine's limit for a benchmark, or "" for a limit itself. If
// comparisons has no limit for the benchmark, limitOf returns "bare hello", which shows the speed of the processor.
func limitOf(name string) string {
	switch name {
	case nameHello, nameMemory, nameRows, nameRow, nameRawSingle, nameRawGroup, nameFsync, nameRawPostgres, nameRawPostgresAlone,
		nameHookBare:
		return ""
	}
	for _, c := range comparisons() {
		if c.name == name && limitOf(c.to) == "" {
			return c.to
		}
	}
	return nameHello
}
