'use strict';
/**
 * What `zendesk-node-api` gets when it asks for `request`: a way to send that the connector supplies, and nothing else.
 *
 * The package as published crashes the process on a refused connection, resolves on 404 and 503, never times out and
 * throws status and headers away. Each of those faults lies between it and `request`, so they are cured here: the
 * connector sends, and what it hands on is parseable even after a failure, because the package parses it after it has
 * rejected. Types: index.d.cts.
 */
const { AsyncLocalStorage } = require('node:async_hooks');

const senders = new AsyncLocalStorage();

/** Runs `work`: what it asks of `zendesk-node-api` is sent by `send`. */
function sendingBy(send, work) {
  return senders.run(send, work);
}

/** The part of `request` that `zendesk-node-api` uses to read. Calls back once, never at once. */
function request(options, callback) {
  const call = (...values) => {
    try {
      callback(...values);
    } catch (error) {
      // Thrown from here it would end the process, and nobody could catch it.
      process.emitWarning(`a request callback threw ${error?.name ?? 'something'}`, 'ZendeskRequest');
    }
  };
  const send = senders.getStore() ?? (() => Promise.reject(new TypeError('a request outside of sendingBy')));
  send(options).then(
    (text) => call(null, { statusCode: 200 }, text.trim() === '' ? '{}' : text),
    (error) => call(error, undefined, '{}'),
  );
}

module.exports = request;
module.exports.sendingBy = sendingBy;
