// Package subjects lists the subjects of a schema registry.
//
//	 3 subjects
//	  SUBJECT
//	▌ orders-key
//	  orders-value
//	  payments-value
//
// # Why
//
//   - enter opens the topic that a subject is named after, because that is what one looks for; a subject that follows
//     another rule of naming leads nowhere.
//   - The list is read when the page is opened and on ctrl-r: the registry is another server, and is not to be polled.
package subjects
