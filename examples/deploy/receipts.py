"""The tasks of a small shop, for the deployments here."""

import logging

import dueq

log = logging.getLogger("receipts")
app = dueq.App()


@app.task(queue="mail", timeout=30)
def send_receipt(order: int) -> None:
    log.info("the receipt of order %d is sent", order)
