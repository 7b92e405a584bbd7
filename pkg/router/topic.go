package router

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxTopic is the longest name a Kafka broker takes: Topic.MAX_NAME_LENGTH of
// org.apache.kafka.common.internals, as are the legal characters.
const maxTopic = 249

// internalPrefix starts the names of topics that brokers and their tools keep
// for themselves (__consumer_offsets). Data must never choose one.
const internalPrefix = "__"

// topicCharFault says what is wrong with the characters of a topic's name or
// of a part of one, or is "".
func topicCharFault(name string) string {
	for i := range len(name) {
		if isTopicChar(name[i]) {
			continue
		}
		_, n := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf(`holds %q; a topic's name is made of letters, digits, ".", "_" and "-"`, name[i:i+n])
	}
	return ""
}

func isTopicChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// topicFault says why a whole name is illegal, or is "".
func topicFault(name string) string {
	switch name {
	case "":
		return "is empty"
	case ".", "..":
		return `is "." or "..", which brokers refuse`
	case "__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata":
		return "is an internal topic of Kafka"
	}
	if len(name) > maxTopic {
		return fmt.Sprintf("has %d characters; brokers take %d", len(name), maxTopic)
	}
	return topicCharFault(name)
}

// renderedTopicFault is topicFault for a name that data took part in.
func renderedTopicFault(name string) string {
	if strings.HasPrefix(name, internalPrefix) {
		return `starts with "__", as internal topics do`
	}
	return topicFault(name)
}
