"""The shop's front: uvicorn front:shop"""

from __future__ import annotations

from contextlib import suppress

import book
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field
from tasks import app, charge, php

import dueq


class Order(BaseModel):
    number: str
    cents: int
    parcels: int = Field(default=1, ge=1, le=200)


class Page(BaseModel):
    receipt: str | None = None
    """None: the order is not paid yet."""
    shipped: int = 0
    """How many of its parcels are on their way."""


shop = FastAPI(title="dueq's shop")


@shop.post("/orders", status_code=202)
async def take_order(order: Order) -> Order:
    with suppress(dueq.Duplicate):  # the customer had no answer, and asks again
        task = charge.options(id=order.number)
        await task.apush(order.number, order.cents, order.parcels)
    book.write("accepted", id=order.number, parcels=order.parcels)
    return order


@shop.get("/orders/{number}")
async def show_order(number: str) -> Page:
    """Waits up to two seconds for the receipt, which PHP's job returns."""
    page = Page()
    with suppress(TimeoutError):
        try:
            page.receipt = await php.aresult(number, 2, queue="payments")
        except dueq.NotFound as error:
            raise HTTPException(404, f"there is no order {number}") from error
    if batch := await app.aio_queue("parcels").find_batch(number):
        page.shipped = batch.acked
    return page


@shop.get("/queues")
async def queues() -> dict[str, dict[str, object]]:
    names = ["payments", "parcels", "orders", "reports"]
    return {name: (await app.aio_queue(name).stats())._asdict() for name in names}
