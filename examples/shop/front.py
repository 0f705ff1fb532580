"""The shop's front: uvicorn front:shop"""

from __future__ import annotations

from contextlib import suppress

import book
from fastapi import FastAPI
from pydantic import BaseModel
from tasks import app, charge

import dueq


class Order(BaseModel):
    number: str
    cents: int


shop = FastAPI(title="dueq's shop")


@shop.post("/orders", status_code=202)
async def take_order(order: Order) -> Order:
    with suppress(dueq.Duplicate):  # the customer had no answer, and asks again
        await charge.options(id=order.number).apush(order.number, order.cents)
    book.write("accepted", id=order.number)
    return order


@shop.get("/queues")
async def queues() -> dict[str, dict[str, object]]:
    names = ["payments", "parcels", "reports"]
    return {name: (await app.aio_queue(name).stats())._asdict() for name in names}
