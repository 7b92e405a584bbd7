package router

import "slices"

// Parse reads the rules of docs/routing.md. The error joins a *SyntaxError for
// every fault of the text.
func Parse(text string) ([]*Rule, error) {
	var f faults
	p := &parser{tokens: lex(text, &f), faults: &f}
	for p.peek().kind != tokenEOF {
		if p.accept(tokenEnd) {
			continue
		}
		p.rule()
	}
	if len(p.rules) == 0 && len(f.list) == 0 {
		f.add(place{1, 1}, `write at least one, such as "* -> kafka:outbox.events"`, "there is no rule")
	}
	checkRules(p.rules, &f)
	if err := f.join(); err != nil {
		return nil, err
	}
	return p.rules, nil
}

type parser struct {
	tokens []token
	next   int
	faults *faults
	rules  []*Rule // those without a fault in their structure
}

func (p *parser) peek() token { return p.tokens[p.next] }

// accept takes the next token if it is of this kind.
func (p *parser) accept(k tokenKind) bool {
	if p.peek().kind != k {
		return false
	}
	p.take()
	return true
}

// take takes the next token; the last one, tokenEOF, stays.
func (p *parser) take() token {
	t := p.peek()
	if t.kind != tokenEOF {
		p.next++
	}
	return t
}

// ended tells that the rule is over.
func (p *parser) ended() bool {
	k := p.peek().kind
	return k == tokenEnd || k == tokenEOF
}

// skip leaves a rule whose structure is not understood.
func (p *parser) skip() {
	for !p.ended() {
		p.take()
	}
}

// rule reads one rule up to its end.
func (p *parser) rule() {
	r := &Rule{Line: p.peek().at.line, at: p.peek().at}
	before := len(p.faults.list)
	if !p.pattern(r) || !p.conds(r) || !p.dests(r) || !p.options(r) {
		p.skip()
	}
	if len(p.faults.list) == before {
		checkRule(r, p.faults)
		p.rules = append(p.rules, r)
	}
}

// pattern reads the event type pattern.
func (p *parser) pattern(r *Rule) bool {
	t := p.take()
	if t.kind != tokenWord {
		p.faults.add(t.at, `a rule is "PATTERN -> DESTINATION"`, "an event type pattern is missing")
		return false
	}
	r.Pattern, r.types = t.word.text, newPattern(t.word)
	r.Name, r.nameAt = r.Pattern, t.at
	if eq := t.word.index('='); eq >= 0 {
		p.faults.add(t.at, `begin the rule with one, as "* tenant=acme -> ...", or quote a "=" that belongs to an event type`, "an event type pattern is missing")
		return true
	}
	for _, part := range t.word.split('|') {
		if part.text == "" {
			p.faults.add(part.at, `no event has an empty type; remove the "|", or quote one that belongs to an event type`, "an alternative is empty")
		}
	}
	return true
}

// conds reads the conditions and the arrow.
func (p *parser) conds(r *Rule) bool {
	for {
		t := p.peek()
		switch t.kind {
		case tokenArrow:
			p.take()
			return true
		case tokenWord:
			p.take()
			c, ok := parseCond(t.word, p.faults)
			r.condText += " " + t.word.text
			switch {
			case !ok:
			case c.field.fixed():
				r.fixed = append(r.fixed, c)
			default:
				r.conds = append(r.conds, c)
			}
		case tokenComma:
			p.faults.add(t.at, `alternatives are separated by "|"; quote a "," that belongs to a name`, `"," before "->"`)
			return false
		case tokenEnd, tokenEOF:
			p.faults.add(t.at, `a rule is "PATTERN -> DESTINATION" on one line`, `"->" is missing`)
			return false
		}
	}
}

// dests reads the list of destinations.
func (p *parser) dests(r *Rule) bool {
	dropAt, words := place{}, 0
	for {
		t := p.peek()
		if t.kind != tokenWord {
			p.faults.add(t.at, `write "kafka:TOPIC", "stdout" or "drop"`, "a destination is missing")
			return false
		}
		p.take()
		words++
		d, drop, ok := parseDest(t.word, p.faults)
		switch {
		case drop:
			dropAt = t.at
		case ok:
			p.addDest(r, d, t.word)
		}
		if !p.accept(tokenComma) {
			break
		}
	}
	if dropAt.line > 0 && words > 1 {
		p.faults.add(dropAt, `remove it, or the other destinations`, `"drop" stands alone`)
	}
	return true
}

func (p *parser) addDest(r *Rule, d dest, w word) {
	if slices.ContainsFunc(r.dests, func(o dest) bool { return o.same(d) }) {
		p.faults.add(w.at, "remove one", "destination %s is named twice", quote(w.text))
		return
	}
	r.dests = append(r.dests, d)
}

// same tells that two destinations of a rule are written alike.
func (d dest) same(o dest) bool {
	if d.sink != o.sink || (d.name == nil) != (o.name == nil) {
		return false
	}
	return d.name == nil || d.name.text == o.name.text
}
