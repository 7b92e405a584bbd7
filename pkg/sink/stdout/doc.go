// Package stdout writes records as lines of JSON, for demos and pipes.
//
// A line is an object with the members destination, time (the commit time), key,
// headers (a list, in order, of name and value) and value, in this order:
//
//	{"destination":"orders","time":"2024-05-06T07:08:09.123456Z","key":"17","headers":[{"name":"event-id","value":"a1"}],"value":"{\"total\": 1}"}
//
// Key and values are JSON strings with the very text of the record; null is
// null. Bytes that are not UTF-8 come in base64, and the member's name says so:
// key_base64, value_base64, name_base64.
//
// A record has its result after its line went to the operating system, which
// is as durable as a pipe can be. A write that fails is Fatal: nobody knows what
// the reader made of half a line, and a pipe whose reader is gone does not come
// back. (A program whose standard output is a closed pipe is killed by SIGPIPE
// unless it handles that signal.)
package stdout
