"""Starts SecantusDB so that a statement of a transaction does not wait for the statements of all others.

Before each statement, SecantusDB 0.7.0b3 looks for transactions that are idle for too long, and takes the lock of each one for that, which a
running statement holds. So it runs the statements of transactions one after another, which no MongoDB server does.
"""

import sys

from secantus.cli import main
from secantus.transactions import TransactionRegistry, TxnState


def prune_locked(registry):
    """As the method that it replaces, but a transaction whose lock is taken is in use, and is left alone."""
    cutoff = registry._time() - registry._lifetime
    reaped = 0
    for transaction in registry._txns.values():
        is_expired = transaction.state is TxnState.IN_PROGRESS and transaction.last_use < cutoff
        if not is_expired or not transaction.mutex.acquire(blocking=False):
            continue
        try:
            if transaction.state is TxnState.IN_PROGRESS and transaction.last_use < cutoff:
                registry._rollback_quietly(transaction)
                transaction.state = TxnState.ABORTED
                reaped += 1
        finally:
            transaction.mutex.release()
    return reaped


if not hasattr(TransactionRegistry, "_prune_locked"):
    sys.exit("this version of SecantusDB has no `TransactionRegistry._prune_locked`")
TransactionRegistry._prune_locked = prune_locked
sys.exit(main())
