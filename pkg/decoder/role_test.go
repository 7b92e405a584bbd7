package decoder

import "testing"

func TestRoles(t *testing.T) {
	all := Roles()
	if len(all) != NumRoles-1 || all[0] != RoleID || all[len(all)-1] != RoleOrder {
		t.Fatalf("got %v", all)
	}
	seen := map[string]bool{}
	required := 0
	for _, r := range all {
		name := r.String()
		if name == "" || seen[name] {
			t.Errorf("role %d has the name %q", r, name)
		}
		seen[name] = true
		if got, ok := ParseRole(name); !ok || got != r {
			t.Errorf("%q is read as %v, %t", name, got, ok)
		}
		if r.Required() {
			required++
		}
		if len(usualNames(r)) == 0 {
			t.Errorf("%v has no usual names", r)
		}
	}
	if required != 4 || !RoleID.Required() || !RolePayload.Required() || RoleOrder.Required() || Role(0).Required() {
		t.Errorf("%d roles are required", required)
	}
	for _, name := range []string{"", "ID", "event_type", "id "} {
		if r, ok := ParseRole(name); ok {
			t.Errorf("%q is read as %v", name, r)
		}
	}
	for _, r := range []Role{0, NumRoles, 255} {
		if r.String() != "" || usualNames(r) != nil {
			t.Errorf("role %d has the name %q", r, r)
		}
	}
}
