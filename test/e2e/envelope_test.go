package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEnvelope: rows of three shapes in an envelope, one of them raw because its
// rule says so, with the chosen headers.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	r, s := deliveryRig(t)
	startReady(t, s.with(settings{
		"FORMAT": "envelope", "HEADERS": "id,headers",
		"ROUTES": `* table=app.outbox -> kafka:plain
			* table=Billing.OutBox -> kafka:billing name=billing
			* table=parted -> kafka:parted name=parted format=raw`,
	}))
	r.db.Exec(t, `INSERT INTO app.outbox VALUES (1, 'agg', 'a-1', 'a.b', 'k"1', '{"b": 1.10, "a": [1, 1e3], "n": null}', '{"region": "eu"}',
			'acme', '00-abc-01', '2026-03-01 13:00:00.25+01', 7, 'no');
		INSERT INTO "Billing"."OutBox" VALUES ('00000000-0000-0000-0000-00000000000a', 'k', 'o', '\x00ff');
		INSERT INTO app.parted VALUES ('2026-01-02', 'p', 'e', 'k', 'no JSON')`)
	r.settle()

	plain := byID(t, r.records("plain"))["1"]
	var got struct {
		Source struct{ Database, Position, CommitTime string }
	}
	if err := json.Unmarshal(plain.value, &got); err != nil {
		t.Fatalf("%s: %v", plain.value, err)
	}
	want := `{"v":1,"eventId":"1","eventType":"a.b","partitionKey":"k\"1","occurredAt":"2026-03-01T12:00:00.25Z","aggregateType":"agg",` +
		`"aggregateId":"a-1","sequence":7,"tenant":"acme","source":{"name":"delivery","database":"` + r.db.Name + `","schema":"app","table":"outbox",` +
		`"position":"` + plain.headers["position"] + `","commitTime":"` + got.Source.CommitTime + `"},"payload":` +
		r.db.Text(t, "SELECT payload FROM app.outbox") + `}`
	check(t, plain, `k"1`, want, map[string]string{"source": "delivery", "region": "eu"})

	billing := byID(t, r.records("billing"))["00000000-0000-0000-0000-00000000000a"]
	if !strings.HasSuffix(string(billing.value), `"payload":"AP8="}`) {
		t.Errorf("a payload of bytes became %s", billing.value)
	}
	check(t, byID(t, r.records("parted"))["p"], "k", "no JSON", map[string]string{"source": "delivery"})
}
