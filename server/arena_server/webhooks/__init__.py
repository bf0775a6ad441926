"""Signed messages about a contest to addresses of the organiser: results, probation, absence.

    the loop       `observer`: a result is durable -> wakes the threads; another event -> a bounded queue
    a thread       `observer`, one for each hook: Delivery.step until nothing is due, then it waits
    Delivery       `delivery`: the next message: from the queue, else the next result behind the cursor
    a message      `message`: its body, signature and one attempt to send it

No message is made or sent on the loop's thread. Results are read from the database, where they are durable,
in their order: the file DATABASE-webhooks-CONTEST keeps the place of the last one that was taken, so each
result is delivered at least once, also by the next server of the contest. Other events are in memory alone,
and are lost with the server or when MOST_NOTICES wait.
"""
