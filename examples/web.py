"""A small shop on the web, with FastAPI. Its receipts are sent by a worker.

pip install fastapi uvicorn
uvicorn web:site
dueq-worker web:tasks --pool asyncio

curl -X POST localhost:8000/orders -H 'content-type: application/json' \\
    -d '{"number": 17, "email": "ada@example.org"}'
curl localhost:8000/orders/17/receipt
"""

from __future__ import annotations

import logging

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

import dueq

log = logging.getLogger("shop")
site = FastAPI()
tasks = dueq.App()


class Order(BaseModel):
    number: int
    email: str


@tasks.task(queue="mail", timeout=30)
async def send_receipt(number: int, email: str) -> None:
    log.info("the receipt of order %d goes to %s", number, email)


@site.post("/orders", status_code=202)
async def take_order(order: Order) -> dict[str, str]:
    """Answers when the task is stored. An order that is sent twice has one receipt."""
    task = send_receipt.options(id=f"receipt-{order.number}", delay=1, unique=86400)
    try:
        return {"receipt": await task.apush(order.number, order.email)}
    except dueq.Duplicate:
        raise HTTPException(409, "this order is taken already") from None


@site.get("/orders/{number}/receipt")
async def find_receipt(number: int) -> dict[str, str]:
    receipt = await tasks.aio_queue("mail").find(f"receipt-{number}")
    if receipt is None:
        raise HTTPException(404, "it is sent, or there is no such order")
    return {"state": receipt.state, "error": receipt.error}


@site.delete("/orders/{number}/receipt", status_code=204)
async def cancel_receipt(number: int) -> None:
    if await tasks.aio_queue("mail").cancel(f"receipt-{number}") is None:
        raise HTTPException(404, "it is sent, or there is no such order")
