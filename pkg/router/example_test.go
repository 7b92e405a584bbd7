package router_test

import (
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

func ExampleRouter_Route() {
	r, err := router.New(`
		payment.* tenant!=internal -> kafka:payments.{tenant|lower} key={aggregate_id}
		*                          -> drop`)
	if err != nil {
		fmt.Println(err)
		return
	}
	table := decoder.NewTable(decoder.TableName{Schema: "public", Name: "outbox"}, nil)
	ev := decoder.NewEvent(table, decoder.Position{Commit: 1, Ordinal: 1}, time.Now(), map[decoder.Role][]byte{
		decoder.RoleID: []byte("e-1"), decoder.RoleType: []byte("payment.created"),
		decoder.RoleTenant: []byte("ACME"), decoder.RoleAggregateID: []byte("17"),
	})
	var d router.Decision
	if _, err := r.Route(&ev, &d, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %v, key %s\n", d.Rule.Name, d.Targets, d.Key)
	// Output: payment.*: [{kafka payments.acme}], key 17
}

func ExampleNew_faults() {
	_, err := router.New("order.* -> kafka:orders fromat=raw\n* tennant=acme -> kafka:orders/eu")
	fmt.Println(err)
	// Output:
	// line 1, column 25: unknown option "fromat"; did you mean "format"?
	// line 2, column 3: unknown field "tennant"; did you mean "tenant"?
	// line 2, column 25: topic "orders/eu" holds "/"; a topic's name is made of letters, digits, ".", "_" and "-"; choose another name
}
